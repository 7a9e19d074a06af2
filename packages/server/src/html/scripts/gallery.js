// Narrows the cards of the gallery while its reader types.
const box = document.getElementById("gallery-filter");
const field = document.getElementById("gallery-search");
const none = document.getElementById("gallery-none");
const groups = [...document.querySelectorAll(".gallery-group")];

const narrow = () => {
  const words = field.value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const group of groups) {
    let inGroup = 0;
    for (const item of group.querySelectorAll("li")) {
      item.hidden = !words.every((word) => item.dataset.words.includes(word));
      if (!item.hidden) inGroup += 1;
    }
    group.hidden = inGroup === 0;
    count += inGroup;
  }
  none.textContent = count === 0 ? none.dataset.none : "";
};

box.hidden = false;
field.addEventListener("input", narrow);
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const first = document.querySelector(".gallery-group:not([hidden]) li:not([hidden]) a");
  if (first && field.value !== "") first.click();
});
// A browser that goes back restores what was typed.
narrow();
