// Forms that a passkey can fill: `data-passkey` says whether one is asked for ("get") or made ("create"), `data-options`
// what for. Their buttons are hidden until this script, and a browser that knows passkeys, are there to serve them.
const serve = (form) => {
  const field = form.elements.namedItem("passkey");
  const button = form.querySelector("[data-passkey-button]");
  const failed = form.querySelector("[data-passkey-failed]");
  const creates = form.dataset.passkey === "create";
  let waiting;

  const ask = async (more) => {
    waiting?.abort();
    waiting = new AbortController();
    const options = JSON.parse(form.dataset.options);
    const publicKey = creates
      ? PublicKeyCredential.parseCreationOptionsFromJSON(options)
      : PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const request = { publicKey, signal: waiting.signal, ...more };
    const credential = await (creates
      ? navigator.credentials.create(request)
      : navigator.credentials.get(request));
    field.value = JSON.stringify(credential);
    // Taken from the prototype because a field may be named "submit".
    HTMLFormElement.prototype.submit.call(form);
  };

  // The list that opens under the email field; it waits until somebody chooses from it.
  const offer = async () => {
    if (!form.hasAttribute("data-conditional")) return;
    if (await PublicKeyCredential.isConditionalMediationAvailable?.())
      await ask({ mediation: "conditional" }).catch(() => {});
  };

  for (const one of form.querySelectorAll("[data-passkey-button], [data-passkey-divider]"))
    one.hidden = false;
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      await ask();
    } catch {
      failed.hidden = false;
      await offer();
    }
  });
  return offer();
};

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const form of document.querySelectorAll("form[data-passkey]")) void serve(form);
}

// What the server knows of the account's passkeys, so that managers drop those that are gone, and show the account's name.
for (const one of document.querySelectorAll("[data-passkey-signals]"))
  for (const [method, options] of Object.entries(JSON.parse(one.dataset.passkeySignals)))
    void window.PublicKeyCredential?.[method]?.(options)?.catch(() => {});
