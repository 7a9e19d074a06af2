// Sends what is typed to the page's preview frame, as the form's preview buttons do without a script. Nothing is stored.
const DELAY_MS = 400;

for (const form of document.querySelectorAll("form[data-draft]")) {
  const buttons = [...form.elements].filter((element) => element.type === "submit" && element.formTarget);
  let shown = buttons[0];
  let timer;

  const show = () => {
    const frame = document.querySelector(`iframe[name="${shown.formTarget}"]`);
    // A new frame: what is loaded in the old one would be an entry of the browser's history for each pause in typing.
    const next = frame.cloneNode();
    next.removeAttribute("src");
    frame.replaceWith(next);
    const action = form.getAttribute("action");
    form.setAttribute("action", shown.formAction);
    form.target = shown.formTarget;
    // Not requestSubmit(): a preview is no submission, which would count as the first click of a double click.
    form.submit();
    form.setAttribute("action", action);
    form.removeAttribute("target");
  };

  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(show, DELAY_MS);
  };
  form.addEventListener("input", later);
  form.addEventListener("reset", later);
  for (const button of buttons)
    button.addEventListener("click", (event) => {
      event.preventDefault();
      shown = button;
      show();
    });
}

// A chosen picture, where the page shows the stored one: beside its field, and a favicon in the picture of a browser's tab.
const pictures = [...document.querySelectorAll("img[data-preview-of]")].map((image) => ({
  image,
  stored: image.getAttribute("src"),
  file: document.getElementById(image.dataset.previewOf),
  remove: document.getElementById(`remove-${image.dataset.previewOf}`),
}));

const readPicture = (file) =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.readAsDataURL(file);
  });

const showPicture = async ({ image, stored, file, remove }) => {
  const [chosen] = file.files;
  const kept = remove?.checked ? (image.dataset.otherwise ?? null) : stored;
  const uri = chosen && !remove?.checked ? await readPicture(chosen) : kept;
  // The stored one's size is not the chosen one's.
  if (uri !== stored)
    for (const side of ["width", "height"]) if (!image.dataset.otherwise) image.removeAttribute(side);
  if (uri === null) image.removeAttribute("src");
  else image.src = uri;
  const place = image.closest(".image-now");
  if (place) place.hidden = uri === null;
};

for (const picture of pictures) {
  const later = () => setTimeout(showPicture, 0, picture);
  picture.file.addEventListener("change", later);
  picture.remove?.addEventListener("change", later);
  picture.file.form.addEventListener("reset", later);
}

// Light or dark, whatever the reader's own scheme is: the rules that ask for one apply, or do not.
const schemes = [...document.querySelectorAll('input[name="preview-scheme"]')];
const ofScheme = new WeakSet();

const paint = (frame) => {
  const inside = frame.contentDocument;
  if (!inside) return;
  const scheme = schemes.find((choice) => choice.checked)?.value;
  const media = scheme === "dark" ? "all" : "not all";
  inside.documentElement.style.colorScheme = scheme;
  const rules = [...inside.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  for (const rule of rules.filter((one) => one instanceof frame.contentWindow.CSSMediaRule)) {
    if (rule.media.mediaText.includes("prefers-color-scheme: dark")) ofScheme.add(rule);
    if (ofScheme.has(rule)) rule.media.mediaText = media;
  }
  for (const source of inside.querySelectorAll("source[media]")) source.media = media;
};

if (schemes.length > 0) {
  const frames = () => document.querySelectorAll(".sign-in-frame");
  const own = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  for (const choice of schemes) {
    choice.checked = choice.value === own;
    choice.addEventListener("change", () => frames().forEach(paint));
    choice.closest("fieldset").classList.remove("scripted");
  }
  addEventListener("load", ({ target }) => target.matches?.(".sign-in-frame") && paint(target), true);
}
