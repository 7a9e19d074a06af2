import type { KeyState, KeyTimes } from "../../../core/signing-keys/signing-key.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import {
  buttonLink,
  card,
  copyable,
  copyStatus,
  facts,
  moment,
  type StateKind,
  state,
} from "../../../html/components/parts.ts";
import { lastChangeLine, successNotice } from "../../../html/components/record-form.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";

/** The newest key of each algorithm can be rotated and revoked. */
export type ShownKey = KeyTimes & { state: KeyState; rotateUri?: string; revokeUri?: string };

export type ShownGeneration = {
  generation: number;
  /** Milliseconds. */
  notBefore: number;
  notAfter: number;
  retiredAt: number | null;
  fingerprint: string;
};

export type SigningKeysView = ConsoleFrame & {
  organisationName: string;
  issuer: string;
  jwksUri: string;
  /** 0: not automatic. */
  rotationDays: number;
  keys: readonly ShownKey[];
  ca: { pemUri: string; rotateUri: string; generations: readonly ShownGeneration[] };
  done: keyof Messages["console"]["signingKeys"]["done"] | undefined;
  lastChange: { who: string; at: number } | undefined;
};

const stateKinds = {
  next: "plain",
  active: "good",
  retiring: "plain",
  retired: "plain",
} as const satisfies Record<KeyState, StateKind>;

export function signingKeysPage(view: SigningKeysView): Html {
  const { signingKeys: text, frame } = view.messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.signingKeys,
    summary: text.summary({ organisation: view.organisationName }),
    breadcrumbs: [],
    notice: view.done && successNotice(text.done[view.done]),
    scripts: [copyScript.path],
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

function keyRow(key: ShownKey, { messages }: SigningKeysView): Row {
  const { keys: text } = messages.console.signingKeys;
  const { minute } = messages.format;
  const { kid, alg, retireAt, rotateUri, revokeUri } = key;
  const actions: Content = rotateUri !== undefined && [
    rowLink({
      id: `rotate-${alg}`,
      uri: rotateUri,
      text: text.rotate,
      label: text.rotateOf({ algorithm: alg }),
    }),
    revokeUri !== undefined &&
      rowLink({
        id: `revoke-${alg}`,
        uri: revokeUri,
        text: text.revoke,
        label: text.revokeOf({ algorithm: alg }),
      }),
  ];
  return {
    id: `key-${kid}`,
    cells: [
      nameCell({ name: alg, note: html`<code>${kid}</code>` }),
      state(stateKinds[key.state], text.states[key.state]),
      moment(key.activeFrom, minute),
      retireAt === null ? text.untilRotated : moment(retireAt, minute),
    ],
    ...(actions === false ? {} : { actions }),
  };
}

function addressesCard({ issuer, jwksUri, messages }: SigningKeysView): Html {
  const { addresses: text } = messages.console.signingKeys;
  const { secret } = messages.console.frame;
  const copied = (id: string, value: string, label: string) =>
    copyable({ id, value, label, copy: secret.copy, copied: secret.copied });
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

function caCard({ ca, messages }: SigningKeysView): Html {
  const { ca: text } = messages.console.signingKeys;
  const { day } = messages.format;
  return card({
    id: "device-ca",
    title: text.title,
    text: text.text,
    actions: html`<div class="actions">${buttonLink({ id: "ca-download", uri: ca.pemUri, label: text.download })}${buttonLink({ id: "ca-rotate", uri: ca.rotateUri, label: text.rotate })}</div>`,
    body: table({
      label: text.title,
      columns: [text.generation, text.state, text.valid],
      rows: ca.generations.map(({ generation, retiredAt, notBefore, notAfter, fingerprint }) => ({
        id: `generation-${generation}`,
        cells: [
          nameCell({
            name: text.generationOf({ count: generation }),
            note: html`${text.fingerprint}: <code class="fingerprint">${fingerprint}</code>`,
          }),
          retiredAt === null ? state("good", text.issues) : state("plain", text.retired),
          html`${moment(notBefore, day)} – ${moment(notAfter, day)}`,
        ],
      })),
      messages,
    }),
  });
}
