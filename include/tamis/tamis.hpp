#pragma once

// Everything, for programs that do not care which part they use.

#include "tamis/any/any_filter.hpp"
#include "tamis/any/registry.hpp"
#include "tamis/batch/pipeline.hpp"
#include "tamis/filter/bloom.hpp"
#include "tamis/filter/bloom1.hpp"
#include "tamis/filter/counting_bloom.hpp"
#include "tamis/hash/hasher.hpp"
#include "tamis/io/file.hpp"
