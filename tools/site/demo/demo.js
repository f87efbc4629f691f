// Drives the demo and draws its two charts. Without WebAssembly, or if it does not start, the static charts above are all there is.
(function () {
  const box = document.getElementById("demo");
  if (!box || typeof WebAssembly !== "object" || typeof tamisDemo !== "function") return;
  const at = (id) => document.getElementById("demo-" + id);
  const questions = 20000, most = 1000000, names = ["Bloom", "evergreen"], colours = ["#868e96", "#0ca678"];

  function chart(into, title, points, low, high) {
    const width = 460, height = 230, left = 46, bottom = 24, top = 26;
    const first = Math.log10(points[0].keys), last = Math.log10(most);
    const x = (keys) => left + (Math.log10(keys) - first) / (last - first) * (width - left - 8);
    const y = (v) => {
      const share = (Math.log10(Math.max(v, low)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low));
      return height - bottom - Math.min(share, 1) * (height - bottom - top);
    };
    let svg = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}"><text x="0" y="14" class="demo-title">${title}</text>`;
    for (let v = low; v <= high * 1.001; v *= 10) {
      svg += `<line x1="${left}" x2="${width - 8}" y1="${y(v)}" y2="${y(v)}" class="demo-grid"/>`;
      svg += `<text x="${left - 6}" y="${y(v) + 4}" text-anchor="end">${+v.toPrecision(2)}</text>`;
    }
    for (const keys of [1e3, 1e4, 1e5, 1e6].filter((k) => Math.log10(k) >= first - 1e-9))
      svg += `<text x="${x(keys)}" y="${height - 6}" text-anchor="${keys < most ? "middle" : "end"}">${keys < 1e6 ? keys / 1000 + "k" : "1M"}</text>`;
    names.forEach((name, i) => {
      const line = points.map((p) => `${x(p.keys).toFixed(1)},${y(p.values[i]).toFixed(1)}`).join(" ");
      svg += `<polyline points="${line}" fill="none" stroke="${colours[i]}" stroke-width="2"/>`;
      svg += `<text x="${width - 150 + 70 * i}" y="14" style="fill: ${colours[i]}" class="demo-name">${name}</text>`;
    });
    into.innerHTML = svg + "</svg>";
  }

  tamisDemo().then((library) => {
    box.hidden = false;
    let timer = 0, wrong, bits, sums, keys, asked = 1000, wanted = "0.01";

    function show(step) {
      wrong.push({ keys, values: [100 * step[1] / questions, 100 * step[2] / questions] });
      bits.push({ keys, values: [step[3], step[4]] });
      sums[0] += step[1];
      sums[1] += step[2];
      chart(at("wrong"), "wrong answers, %", wrong, 0.01, 100);
      chart(at("bits"), "bits per key", bits, 0.01, 100);
      const n = (v) => Math.round(v).toLocaleString("en");
      at("says").textContent = `${n(keys)} keys. Wrong answers so far, of ${n(wrong.length * questions)}: Bloom ${n(sums[0])}, evergreen ` +
        `${n(sums[1])}. Members lost: ${n(step[5])}.`;
    }

    function step(inserts) {
      const found = library._demo_step(inserts, questions);
      if (!found) {
        at("says").textContent = "A filter refused a key.";
        return stop();
      }
      const values = Array.from(library.HEAPF64.subarray(found >> 3, (found >> 3) + 6));
      keys = values[0];
      show(values);
    }

    // The filters that would do for the keys and questions so far, the best first: the code of `tamis advise`, here.
    function advise(first, rate) {
      const rows = library.UTF8ToString(library._demo_advise()).split("\n").filter(Boolean).map((line) => line.split("|"));
      const n = (v) => Math.round(v).toLocaleString("en");
      const growth = +(keys / first).toPrecision(3);
      let html = `<p><code>tamis advise --capacity ${first} --growth ${growth} --fpr ${rate} --trust-log</code> with these ` +
        `${n(keys)} keys and ${n(wrong.length * questions)} questions:</p>`;
      if (rows.length) {
        html += "<table><thead><tr><th>filter, the best first</th><th>KiB, mean while it grows</th><th>KiB in the end</th>" +
          "<th>wrong about new keys</th><th>wrong over these questions</th></tr></thead><tbody>";
        for (const [name, mean, end, fresh, all] of rows)
          html += `<tr><td><code>${name}</code></td><td>${mean}</td><td>${end}</td><td>${fresh} %</td><td>${all} %</td></tr>`;
        html += "</tbody></table>";
      }
      at("advice").innerHTML = html + "<p>Some filters only; the command tries all, on your log.</p>";
    }

    function stop() {
      clearInterval(timer);
      timer = 0;
      at("run").textContent = "Run";
    }

    function tick() {
      if (keys >= most) return stop();
      step(Math.min(Math.ceil(keys / 6), most - keys));
    }

    at("run").addEventListener("click", () => {
      if (timer) return stop();
      const size = +at("size").value;
      [wrong, bits, sums, keys] = [[], [], [0, 0], 0];
      library._demo_start(size, +at("rate").value, +at("skew").value, 1 + Math.floor(Math.random() * 1e9));
      [asked, wanted] = [size, at("rate").value];
      at("advice").innerHTML = "";
      step(size);
      at("run").textContent = "Stop";
      timer = setInterval(tick, 150);
    });
    at("ask").addEventListener("click", () => {
      stop();
      at("advice").textContent = "Trying filters on a sample …";
      setTimeout(() => advise(asked, wanted), 50);  // shown before the work begins
    });
    library._demo_start(1000, 0.01, 1, 1);  // so that something is seen before anybody clicks
    [wrong, bits, sums, keys] = [[], [], [0, 0], 0];
    step(1000);
    while (keys < 30000) step(Math.ceil(keys / 3));
  });
})();
