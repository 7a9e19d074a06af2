// A file is read into the text field that it stands beside, so that a form sends text as ever. UTF-8, else what spreadsheets of
// western Europe write. Without this the text is pasted.
const readText = async (file) => {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
};

for (const part of document.querySelectorAll("[data-file-text]")) {
  const field = document.getElementById(part.dataset.fileText);
  const input = part.querySelector("input[type=file]");
  const status = part.querySelector("[role=status]");
  const take = async (file) => {
    if (!file) return;
    if (file.size > Number(part.dataset.maxBytes)) {
      status.textContent = part.dataset.tooLarge;
      return;
    }
    field.value = await readText(file);
    status.textContent = part.dataset.read.replace("#", file.name);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  part.hidden = false;
  input.addEventListener("change", () => take(input.files[0]));
  field.addEventListener("dragover", (event) => event.preventDefault());
  field.addEventListener("drop", (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    void take(file);
  });
}
