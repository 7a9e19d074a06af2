/** The parts of a device's page, by its tabs: whether its certificate is valid, how it was enrolled, its certificates. */
import type { CertificateStatus, Device, DeviceCertificate } from "../../../core/devices/device.ts";
import { type BadgeKind, badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordParts, RecordView } from "../../../page-kit/record-pages.ts";
import type { DeviceState } from "./device-list.store.ts";
import { deviceBadges } from "./device-list.ts";
import { managePath } from "./page-and-api.ts";

export type DeviceView = RecordView<Device> & {
  state: DeviceState;
  /** The newest that was not replaced. */
  current: ShownCertificate | undefined;
  /** Newest first. */
  certificates: readonly ShownCertificate[];
};

type ShownCertificate = DeviceCertificate & { status: CertificateStatus };

/** What stands above every tab. */
export function aboveDevice({ record: device, state, uriOf, messages }: DeviceView): RecordParts {
  const { list, record: text } = messages.devices;
  const { id, name } = device;
  const revoke = { id: "more-device-revoke", uri: uriOf("/revoke"), label: list.revoke };
  const isAtWork = state !== "revoked";
  return {
    head: {
      name,
      mark: recordIcon("device"),
      facts: [
        html`<span id="device-state">${badge(deviceBadges[state], list.states[state])}</span>`,
        device.attestation === "tpm" && "TPM",
      ],
      id: { id: "device-id", value: id, label: text.id },
    },
    actions:
      isAtWork &&
      buttonLink({
        id: "device-replace",
        uri: managePath({ id: device.orgId }, `?replaces=${id}#register`),
        label: list.replace,
      }),
    more: isAtWork ? [{ ...revoke, isQuestion: true, isDangerous: true }] : [],
    done: messages.devices.done,
  };
}

export const deviceOverview = (view: DeviceView): Content => [validityCard(view), enrolmentCard(view)];

/** The last tab, with the end of the device: revoking ends its certificate. */
export const deviceCertificates = (view: DeviceView): Content => [
  certificateCard(view),
  view.state !== "revoked" && endCard(view),
];

/** Whether it is valid, and how long; which one it is has a tab of its own. */
function validityCard({ current, messages }: DeviceView): Html {
  return card({
    id: "certificate",
    title: messages.devices.record.certificate,
    text: current && messages.devices.record.certificateText,
    body: current ? facts(validity(current, messages)) : noCertificate(messages),
  });
}

const noCertificate = ({ devices }: Messages): Html =>
  html`<p class="quiet">${devices.list.noCertificate}</p>`;

const validity = ({ status, notBefore, notAfter }: ShownCertificate, { devices, format }: Messages) => [
  {
    label: devices.record.status,
    content: statusBadge(status, devices.record.statuses),
    id: "certificate-status",
  },
  { label: devices.record.from, content: relativeTime(notBefore, format.day) },
  { label: devices.list.until, content: relativeTime(notAfter, format.day) },
];

/** The one that was not replaced; others are a table below it. */
function certificateCard({ current, certificates, messages }: DeviceView): Html {
  const { record: text } = messages.devices;
  const copied = (id: string, label: string, value: string) => ({
    label,
    content: copyField({ id, value, label, ...messages.console.frame.secret }),
  });
  return card({
    id: "certificate",
    title: text.certificate,
    body: [
      current
        ? facts([
            ...validity(current, messages),
            copied("certificate-serial", text.serial, current.serial),
            copied("certificate-fingerprint", text.fingerprint, current.fingerprint),
            copied("certificate-key", text.key, current.keyHash),
            { label: text.generation, content: messages.format.number(current.generation) },
          ])
        : noCertificate(messages),
      earlierTable(
        certificates.filter((one) => one !== current),
        messages,
      ),
    ],
  });
}

function earlierTable(earlier: readonly ShownCertificate[], messages: Messages): Content {
  if (earlier.length === 0) return undefined;
  const { list, record: text } = messages.devices;
  const { day } = messages.format;
  return html`<h3>${text.earlier}</h3>
${table({
  label: text.earlier,
  columns: [text.serial, text.status, text.from, list.until],
  rows: earlier.map((one) => ({
    id: `certificate-${one.serial}`,
    cells: [
      nameCell({ name: one.serial }),
      statusBadge(one.status, text.statuses),
      relativeTime(one.notBefore, day),
      relativeTime(one.notAfter, day),
    ],
  })),
  messages,
})}`;
}

const statusKinds: Readonly<Record<CertificateStatus, BadgeKind>> = {
  ...{ good: "good", revoked: "bad", superseded: "plain", expired: "warn" },
  "not-yet-valid": "plain",
};

const statusBadge = (status: CertificateStatus, words: Readonly<Record<CertificateStatus, string>>) =>
  badge(statusKinds[status], words[status]);

function enrolmentCard({ record: device, messages }: DeviceView): Html {
  const { list, record: text, revoke } = messages.devices;
  const { enrolledAt, attestation, ekHash, lastSeenAt, revokedAt, revokedReason } = device;
  const { minute } = messages.format;
  const hash: Content =
    ekHash !== null &&
    copyField({ id: "device-ek", value: ekHash, label: text.ek, ...messages.console.frame.secret });
  return card({
    id: "enrolment",
    title: text.enrolment,
    body: facts([
      { label: text.enrolled, content: relativeTime(enrolledAt, minute) },
      {
        label: list.proof,
        content: attestation === "tpm" ? text.attested : text.unattested,
        id: "device-attestation",
      },
      { label: text.ek, content: hash },
      { label: list.seen, content: lastSeenAt === null ? list.never : relativeTime(lastSeenAt, minute) },
      { label: text.revoked, content: revokedAt !== null && relativeTime(revokedAt, minute) },
      { label: revoke.reason, content: revokedReason !== null && revoke.reasons[revokedReason] },
    ]),
  });
}

function endCard({ uriOf, messages }: DeviceView): Html {
  const { list, record: text } = messages.devices;
  const revoke = { id: "device-revoke", uri: uriOf("/revoke"), label: list.revoke };
  return card({
    id: "device-end",
    title: text.end,
    text: text.endText,
    isDangerous: true,
    body: html`<div class="actions">${buttonLink({ ...revoke, kind: "danger", isQuestion: true })}</div>
`,
  });
}
