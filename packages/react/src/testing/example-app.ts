/** A single-page application of three buttons, for the journey in e2e/sdk. Without JSX, as the type check of this repository knows none. */

import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { SignedIn, SignedOut, SignetProvider, useAccessToken, useSignet, useUser } from "../index.ts";

interface Settings {
  readonly issuer: string;
  readonly clientId: string;
  readonly api: string;
}

function Page({ api }: Settings) {
  const { status, signIn, signOut, renew, fetch, error } = useSignet();
  const user = useUser();
  const token = useAccessToken();
  const [answer, setAnswer] = useState("");
  const call = () =>
    fetch(api).then(async (response) => setAnswer(`${response.status} ${await response.text()}`));
  const button = (id: string, onClick: () => unknown) =>
    h("button", { id, type: "button", onClick: () => void onClick() }, id);
  return h(
    "main",
    null,
    h("p", { id: "status" }, status),
    h("p", { id: "error" }, error?.message ?? ""),
    h(
      SignedOut,
      null,
      button("sign-in", () => signIn({ returnTo: "/orders?page=2" })),
    ),
    h(
      SignedIn,
      null,
      h("p", { id: "user" }, `${user?.name} ${user?.email}`),
      h("p", { id: "token" }, token),
      button("sign-out", signOut),
      button("renew", () => renew().catch(() => {})),
      button("call", call),
      h("p", { id: "answer" }, answer),
    ),
  );
}

const settings = (globalThis as unknown as { readonly settings: Settings }).settings;
const container = (
  globalThis as unknown as { document: { getElementById(id: string): object } }
).document.getElementById("root");
createRoot(container).render(h(SignetProvider, settings, h(Page, settings)));
