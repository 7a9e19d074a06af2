import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { notice } from "../../../html/components/notice.ts";
import { buttonLink, card } from "../../../html/components/parts.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

/** What was just done, as the address of the page says it. */
export type SecurityDone = keyof Messages["security"]["done"] | "passwordChanged";

export type SecurityView = ConsoleFrame & {
  /** The organisation asks everybody for a second factor. */
  isRequired: boolean;
  done?: SecurityDone | undefined;
  /** Undefined for a guest: the account's home organisation changes it. */
  factors?:
    | {
        /** When it was set, in milliseconds; null for an account without one. */
        passwordSince: number | null;
        /** When the authenticator app was set up, in milliseconds; undefined without one. */
        totpSince: number | undefined;
        passkeys: readonly {
          name: string;
          createdAt: number;
          lastUsedAt: number | null;
          isBackedUp: boolean;
          uri: string;
        }[];
        recoveryCodes: number;
        uris: {
          password: string;
          authenticator: string;
          authenticatorRemoval: string;
          newPasskey: string;
          recoveryCodes: string;
        };
      }
    | undefined;
  devices: readonly {
    /** A name in our words; undefined when the browser is none that we know. */
    name: string | undefined;
    isThisOne: boolean;
    lastUsedAt: number;
    expiresAt: number;
    uri: string;
  }[];
  forgetAllUri: string;
};

type Factors = NonNullable<SecurityView["factors"]>;

/** With fewer of them than this a user is told to make new ones. */
const FEW_CODES = 3;

const button = (id: string, uri: string, label: string): Html => buttonLink({ id, uri, label });

const actions = (...buttons: readonly Content[]): Html => html`<div class="actions">
${buttons}</div>
`;

/** In a plain sentence, and what to do about it. */
function protection({ factors, messages }: SecurityView): Html {
  const text = messages.console.account.protection;
  const level = protectionOf(factors);
  const isMeagre = factors && level !== "password" && factors.recoveryCodes < FEW_CODES;
  return card({
    id: "protection",
    title: text.title,
    body: html`<p class="protection ${level}">${text[level]}</p>
${isMeagre && html`<p class="protection password">${text.fewCodes({ count: factors.recoveryCodes })}</p>`}`,
  });
}

function protectionOf(factors: Factors | undefined): "guest" | "passkey" | "totp" | "password" {
  if (factors === undefined) return "guest";
  if (factors.passkeys.length > 0) return "passkey";
  return factors.totpSince === undefined ? "password" : "totp";
}

function password({ passwordSince, uris }: Factors, messages: Messages): Html {
  const text = messages.console.account.password;
  const has = passwordSince !== null;
  return card({
    id: "password",
    title: text.card,
    text: has ? text.there({ at: passwordSince }) : text.none,
    body: actions(button("password-change", uris.password, has ? text.change : text.set)),
  });
}

function authenticator({ totpSince, uris }: Factors, text: Messages["security"]["totp"]): Html {
  const has = totpSince !== undefined;
  return card({
    id: "totp",
    title: text.heading,
    text: has ? text.there({ at: totpSince }) : text.none,
    body: actions(
      button("totp-setup", uris.authenticator, has ? text.replace : text.add),
      has && button("totp-remove", uris.authenticatorRemoval, text.remove),
    ),
  });
}

function passkeys({ passkeys: list, uris }: Factors, text: Messages["security"]["passkeys"]): Html {
  const item = (passkey: Factors["passkeys"][number]) => html`<li>
<div><span class="item-name"><bdi>${passkey.name}</bdi>${passkey.isBackedUp && html` <span class="tag">${text.synced}</span>`}</span>
<span class="quiet item-note">${text.added({ at: passkey.createdAt })}, ${passkey.lastUsedAt === null ? text.neverUsed : text.used({ at: passkey.lastUsedAt })}</span></div>
<a href="${linkAddress(passkey.uri)}" aria-label="${text.changeOf({ name: passkey.name })}">${text.change}</a>
</li>
`;
  return card({
    id: "passkeys",
    title: text.heading,
    text: list.length === 0 ? text.none : undefined,
    body: [
      list.length > 0 &&
        html`<ul class="items">
${list.map(item)}</ul>
`,
      actions(button("passkey-add", uris.newPasskey, text.add)),
    ],
  });
}

function recovery(factors: Factors, text: Messages["security"]["recovery"]): Html {
  const has = protectionOf(factors) !== "password";
  return card({
    id: "recovery",
    title: text.heading,
    text: has ? text.left({ count: factors.recoveryCodes }) : text.none,
    body: has && actions(button("recovery-renew", factors.uris.recoveryCodes, text.renew)),
  });
}

/** Where a password alone signs in there is nothing that a browser would be remembered for. */
const asksForFactors = ({ factors, devices: list }: SecurityView): boolean =>
  factors === undefined || list.length > 0 || protectionOf(factors) !== "password";

function devices(view: SecurityView, text: Messages["security"]["devices"]): Html {
  const item = (device: SecurityView["devices"][number]) => {
    const name = device.name ?? text.unknown;
    return html`<li>
<div><span class="item-name">${name}${device.isThisOne && html` <span class="tag">${text.thisOne}</span>`}</span>
<span class="quiet item-note">${text.used({ at: device.lastUsedAt })}, ${text.until({ at: device.expiresAt })}</span></div>
<a href="${linkAddress(device.uri)}" aria-label="${text.forgetOf({ browser: name })}">${text.forget}</a>
</li>
`;
  };
  const has = view.devices.length > 0;
  return card({
    id: "devices",
    title: text.heading,
    text: has ? text.explanation : text.none,
    body: has && [
      html`<ul class="items">
${view.devices.map(item)}</ul>
`,
      view.devices.length > 1 && actions(button("devices-forget", view.forgetAllUri, text.forgetAll)),
    ],
  });
}

function doneText({ done, messages }: SecurityView): string | undefined {
  if (done === "passwordChanged") return messages.console.account.password.changed;
  return done && messages.security.done[done];
}

/** What the account is protected by, and the way to each change. */
export function securityPage(view: SecurityView): Html {
  const text = view.messages.security;
  const { organisation, factors } = view;
  const done = doneText(view);
  return consoleLayout({
    ...view,
    title: view.messages.console.frame.accountPages.security,
    breadcrumbs: [],
    summary: [
      text.summary({ organisation: organisation.name }),
      view.isRequired && ` ${text.required({ organisation: organisation.name })}`,
    ],
    notice: done === undefined ? undefined : notice("hint", "security-done", done),
    body: html`<div class="cards">
${
  factors === undefined
    ? notice("hint", "security-elsewhere", text.managedElsewhere, text.managedElsewhereText)
    : [
        protection(view),
        password(factors, view.messages),
        authenticator(factors, text.totp),
        passkeys(factors, text.passkeys),
        recovery(factors, text.recovery),
      ]
}${asksForFactors(view) && devices(view, text.devices)}</div>
`,
  });
}
