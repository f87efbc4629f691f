"""Conan 2: `conan create packaging/conan` builds the tree that this file lies in."""

import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Tamis(ConanFile):
    name = "tamis"
    version = "0.2.0"
    license = "Apache-2.0"
    description = "Approximate-membership filters that learn and grow"
    settings = "os", "arch", "compiler", "build_type"
    options = {"guard": [True, False]}
    default_options = {"guard": False}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "THIRD_PARTY.md", "cmake/*", "include/*", "integrations/c/*", "src/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        self.requires("xxhash/0.8.1")  # compiled into the library
        if self.options.guard:
            self.requires("rocksdb/[>=7.8 <9]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TAMIS_TOOLS"] = False
        toolchain.cache_variables["TAMIS_PYTHON"] = False
        toolchain.cache_variables["TAMIS_ROCKSDB"] = bool(self.options.guard)
        include = self.dependencies["xxhash"].cpp_info.includedirs[0]
        toolchain.extra_cxxflags.append(f"-I{include}")
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package's own CMake files say the rest: tamis::tamis, tamis::c and the guards.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "tamis")]
