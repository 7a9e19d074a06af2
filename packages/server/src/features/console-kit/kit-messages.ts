/** Samples: what a page says, in the page and over it. */
import { banner } from "../../html/components/banner.ts";
import { buttonLink } from "../../html/components/button.ts";
import { card } from "../../html/components/card.ts";
import { drawer, pageDrawer } from "../../html/components/drawer.ts";
import { helpLink } from "../../html/components/help-link.ts";
import { livePanel } from "../../html/components/live-panel.ts";
import { scopeList } from "../../html/components/scope-list.ts";
import { stepCard } from "../../html/components/step-card.ts";
import { toast } from "../../html/components/toast.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { KIT } from "./kit-controls.ts";

export const bannerCard = (): Html =>
  card({
    id: "banners",
    title: "Banner and HelpLink",
    body: [
      banner("hint", "kit-hint", "A newer version is available", "Signet 0.2 has been released."),
      banner("success", "kit-success", "Email address confirmed"),
      banner(
        "warning",
        "kit-warning",
        "A client secret expires in 3 days",
        undefined,
        buttonLink({ id: "kit-rotate", uri: KIT, label: "Rotate" }),
      ),
      banner("error", "kit-error", "Not saved", "Fix 1 field below."),
      helpLink("kit-help", "/docs", "How redirect URIs are compared"),
    ],
  });

export const liveCards = (): Html =>
  html`<div class="pair-of-cards">${livePanel({ id: "live-waiting", uri: `${KIT}/live`, title: "Waiting for the first sign-in", state: "waiting", text: "Open your application and sign in." })}${livePanel({ id: "live-done", uri: `${KIT}/live`, title: "Signed in", state: "done", text: "Ada Lindqvist, 2 seconds ago." })}${livePanel({ id: "live-failed", uri: `${KIT}/live`, title: "The code has expired", state: "failed", text: "Create another code." })}</div>
`;

export const overlays = (messages: Messages): Html =>
  html`${drawer({
    id: "kit-drawer",
    title: "Sign-in failed",
    close: messages.console.frame.close,
    body: html`<p>Details beside the list that they belong to.</p>`,
    foot: buttonLink({ id: "kit-open", uri: KIT, label: "Open" }),
  })}${toast(
    "Application disabled",
    { messages },
    {
      undo: { action: KIT, label: "Undo", fields: [] },
    },
  )}`;

/** Over the page's end, filled from another page; steps; scopes in words. */
export const moreCards = (messages: Messages): Html =>
  html`<div class="pair-of-cards">${stepCard({ id: "kit-step", number: 1, title: "Install", text: "On the device.", body: html`<p><a id="kit-page-drawer-open-link" href="${KIT}/record" data-drawer="kit-page-drawer">Open a page in a drawer</a></p>` })}${card(
    {
      id: "kit-scopes-words",
      title: "Scopes in words",
      body: scopeList(
        [{ name: "email" }, { name: "payslips", displayName: "Read payslips", sensitive: true }],
        messages,
      ),
    },
  )}</div>
${pageDrawer({ id: "kit-page-drawer", close: messages.console.frame.close, open: "Open" })}`;
