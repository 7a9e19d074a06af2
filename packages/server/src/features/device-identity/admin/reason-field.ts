import { revocationReasons } from "../../../core/devices/device.ts";
import { selectField } from "../../../html/components/fields.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

/** The reason of a revocation, which the CRL publishes (RFC 5280 §5.3.1). */
export function reasonField(messages: Messages): Html {
  const { revoke: text } = messages.devices;
  return selectField({
    id: "reason",
    label: text.reason,
    value: "unspecified",
    choices: revocationReasons.map((value) => ({ value, label: text.reasons[value] })),
    messages,
  });
}
