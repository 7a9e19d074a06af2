// Shows the numbers of a chart's point under the pointer, or under the finger: they stand in the table behind the chart.
for (const chart of document.querySelectorAll(".chart")) {
  const svg = chart.querySelector("svg");
  const rows = [...chart.querySelectorAll("tbody tr")];
  const labels = [...chart.querySelectorAll("thead th")].slice(1).map((head) => head.textContent);
  const { width, height } = svg.viewBox.baseVal;
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.hidden = true;
  // The table tells it to those who don't see it.
  tip.setAttribute("aria-hidden", "true");
  const slot = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  slot.setAttribute("class", "chart-slot");
  slot.setAttribute("width", width / rows.length);
  slot.setAttribute("height", height);

  const line = (text, number) => {
    const entry = document.createElement("span");
    entry.textContent = text;
    if (number === undefined) return [entry];
    const amount = document.createElement("b");
    amount.textContent = number;
    return [entry, amount];
  };
  const show = ({ clientX }) => {
    const box = svg.getBoundingClientRect();
    const at = Math.min(
      rows.length - 1,
      Math.max(0, Math.floor(((clientX - box.left) / box.width) * rows.length)),
    );
    const [point, ...numbers] = [...rows[at].cells].map((cell) => cell.textContent);
    slot.setAttribute("x", (at * width) / rows.length);
    svg.prepend(slot);
    tip.replaceChildren(...line(point), ...numbers.flatMap((number, index) => line(labels[index], number)));
    tip.hidden = false;
    const middle = ((at + 0.5) / rows.length) * box.width;
    const left = Math.min(Math.max(middle - tip.offsetWidth / 2, 0), box.width - tip.offsetWidth);
    tip.style.left = `${svg.getBoundingClientRect().left - chart.getBoundingClientRect().left + left}px`;
  };
  const hide = () => {
    tip.hidden = true;
    slot.remove();
  };
  if (rows.length > 0) {
    chart.append(tip);
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", hide);
  }
}
