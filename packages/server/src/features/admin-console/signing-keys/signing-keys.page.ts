/** Signing keys and the device CA. */
import { X509Certificate } from "node:crypto";
import type { CaGeneration } from "../../../core/device-ca/generation.ts";
import type { KeyState, KeyTimes } from "../../../core/signing-keys/signing-key.ts";
import { type BadgeKind, badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type SigningKeysView = ConsoleFrame & {
  issuer: string;
  jwksUri: string;
  caPemUri: string;
  /** 0: not automatic. */
  rotationDays: number;
  keys: ReadonlyArray<KeyTimes & { state: KeyState }>;
  /** Of the device CA. */
  generations: readonly CaGeneration[];
  done: keyof Messages["console"]["signingKeys"]["done"] | undefined;
  lastChange: { who: string; at: number } | undefined;
};

const stateKinds = {
  next: "plain",
  active: "good",
  retiring: "plain",
  retired: "plain",
} as const satisfies Record<KeyState, BadgeKind>;

export function signingKeysPage(view: SigningKeysView): Html {
  const { signingKeys: text, frame } = view.messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.signingKeys,
    summary: text.summary({ organisation: view.organisation.name }),
    breadcrumbs: [],
    notice: view.done && toast(text.done[view.done], view),
    body: [keysCard(view), addressesCard(view), caCard(view), copyStatus],
  });
}

function keysCard(view: SigningKeysView): Html {
  const { keys: text } = view.messages.console.signingKeys;
  return card({
    id: "keys",
    title: text.title,
    text:
      view.rotationDays === 0 ? text.rotatedByHand : text.rotated({ seconds: view.rotationDays * 86_400 }),
    body: [
      table({
        label: text.title,
        columns: [text.key, text.state, text.from, text.until],
        rows: view.keys.map((key) => keyRow(key, view)),
        messages: view.messages,
      }),
      lastChangeLine(view.lastChange, view.messages),
    ],
  });
}

function keyRow(
  { kid, alg, activeFrom, retireAt, state: keyState }: SigningKeysView["keys"][number],
  { messages, consoleUri }: SigningKeysView,
): Row {
  const { keys: text } = messages.console.signingKeys;
  const { minute } = messages.format;
  const action = (act: "rotate" | "revoke", label: string) =>
    rowLink({ id: `${act}-${alg}`, uri: consoleUri(`/signing-keys/${alg}/${act}`), text: text[act], label });
  return {
    id: `key-${kid}`,
    cells: [
      nameCell({ name: alg, note: html`<code>${kid}</code>` }),
      badge(stateKinds[keyState], text.states[keyState]),
      relativeTime(activeFrom, minute),
      retireAt === null ? text.untilRotated : relativeTime(retireAt, minute),
    ],
    // The newest key of each algorithm can be rotated and revoked.
    actions:
      retireAt === null
        ? [
            action("rotate", text.rotateOf({ algorithm: alg })),
            action("revoke", text.revokeOf({ algorithm: alg })),
          ]
        : undefined,
  };
}

function addressesCard({ issuer, jwksUri, messages }: SigningKeysView): Html {
  const { addresses: text } = messages.console.signingKeys;
  const { secret } = messages.console.frame;
  const copied = (id: string, value: string, label: string) =>
    copyField({ id, value, label, copy: secret.copy, copied: secret.copied });
  return card({
    id: "addresses",
    title: text.title,
    text: text.text,
    body: facts([
      { label: text.jwks, content: copied("jwks-uri", jwksUri, text.jwks) },
      { label: text.issuer, content: copied("issuer", issuer, text.issuer) },
    ]),
  });
}

function caCard({ generations, caPemUri, consoleUri, messages }: SigningKeysView): Html {
  const { ca: text } = messages.console.signingKeys;
  const { day } = messages.format;
  const rotateUri = consoleUri("/signing-keys/device-ca/rotate");
  return card({
    id: "device-ca",
    title: text.title,
    text: text.text,
    actions: html`<div class="actions">${buttonLink({ id: "ca-download", uri: caPemUri, label: text.download })}${buttonLink({ id: "ca-rotate", uri: rotateUri, label: text.rotate })}</div>`,
    body: table({
      label: text.title,
      columns: [text.generation, text.state, text.valid],
      rows: generations.map(({ generation, retiredAt, notBefore, notAfter, der }) => ({
        id: `generation-${generation}`,
        cells: [
          nameCell({
            name: text.generationOf({ count: generation }),
            // As `openssl x509 -fingerprint -sha256` writes it.
            note: html`${text.fingerprint}: <code class="fingerprint">${new X509Certificate(der).fingerprint256}</code>`,
          }),
          retiredAt === null ? badge("good", text.issues) : badge("plain", text.retired),
          // Two days that are compared: neither as "5 minutes ago".
          `${day(notBefore)} – ${day(notAfter)}`,
        ],
      })),
      messages,
    }),
  });
}
