/** The page of one device: its certificates, how it was enrolled, what it did last. */
import type { CertificateStatus, Device, DeviceCertificate } from "../../../core/devices/device.ts";
import { type BadgeKind, badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { overflowMenu } from "../../../html/components/overflow-menu.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { recordHeading, recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { DeviceState } from "./device-list.store.ts";
import { deviceBadges } from "./device-list.ts";
import type { ManageUri } from "./page-and-api.ts";

export type DeviceView = ConsoleFrame & {
  manageUri: ManageUri;
  device: Device & { state: DeviceState };
  /** Newest first. */
  certificates: ReadonlyArray<DeviceCertificate & { status: CertificateStatus }>;
  /** Its last events. */
  activity: Html;
  lastChange: { who: string; at: number } | undefined;
};

export function devicePage(view: DeviceView): Html {
  const { device, messages, manageUri } = view;
  const { list, record: text } = messages.devices;
  const { id, name, state } = device;
  return consoleLayout({
    ...view,
    title: name,
    ...recordHeading(
      {
        name,
        mark: recordIcon("device"),
        facts: [
          html`<span id="device-state">${badge(deviceBadges[state], list.states[state])}</span>`,
          device.attestation === "tpm" && "TPM",
        ],
        id: { id: "device-id", value: id, label: text.id },
      },
      messages,
    ),
    breadcrumbs: [{ label: messages.console.frame.pages.devices, uri: manageUri() }],
    actions: state !== "revoked" && [
      buttonLink({ id: "device-replace", uri: manageUri(`?replaces=${id}#register`), label: list.replace }),
      overflowMenu(
        [
          {
            id: "more-device-revoke",
            uri: manageUri(`/${id}/revoke`),
            label: list.revoke,
            isQuestion: true,
            isDangerous: true,
          },
        ],
        messages,
      ),
    ],
    body: [
      certificateCard(view),
      enrolmentCard(view),
      view.activity,
      state !== "revoked" && endCard(view),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
    ],
  });
}

/** The one that was not replaced; others are a table below it. */
function certificateCard({ certificates, messages }: DeviceView): Html {
  const { list, record: text } = messages.devices;
  const last = certificates.find(({ supersededAt }) => supersededAt === null);
  const earlier = certificates.filter((one) => one !== last);
  const copied = (id: string, label: string, value: string) => ({
    label,
    content: copyField({ id, value, label, ...messages.console.frame.secret }),
  });
  const { day } = messages.format;
  return card({
    id: "certificate",
    title: text.certificate,
    text: last && text.certificateText,
    body: [
      last
        ? facts([
            {
              label: text.status,
              content: statusBadge(last.status, text.statuses),
              id: "certificate-status",
            },
            { label: text.from, content: relativeTime(last.notBefore, day) },
            { label: list.until, content: relativeTime(last.notAfter, day) },
            copied("certificate-serial", text.serial, last.serial),
            copied("certificate-fingerprint", text.fingerprint, last.fingerprint),
            copied("certificate-key", text.key, last.keyHash),
            { label: text.generation, content: messages.format.number(last.generation) },
          ])
        : html`<p class="quiet">${list.noCertificate}</p>`,
      earlier.length > 0 &&
        html`<h3>${text.earlier}</h3>
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
})}`,
    ],
  });
}

const statusKinds: Readonly<Record<CertificateStatus, BadgeKind>> = {
  ...{ good: "good", revoked: "bad", superseded: "plain", expired: "warn" },
  "not-yet-valid": "plain",
};

const statusBadge = (status: CertificateStatus, words: Readonly<Record<CertificateStatus, string>>) =>
  badge(statusKinds[status], words[status]);

function enrolmentCard({ device, messages }: DeviceView): Html {
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

function endCard({ device, manageUri, messages }: DeviceView): Html {
  const { list, record: text } = messages.devices;
  const revoke = { id: "device-revoke", uri: manageUri(`/${device.id}/revoke`), label: list.revoke };
  return card({
    id: "device-end",
    title: text.end,
    text: text.endText,
    isDangerous: true,
    body: html`<div class="actions">${buttonLink({ ...revoke, kind: "danger", isQuestion: true })}</div>
`,
  });
}
