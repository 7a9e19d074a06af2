import { revocationReasons } from "../../core/devices/device.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";

/** Why a device is revoked: it stands in the revocation list (RFC 5280 §5.3.1). */
export function reasonField({ devices: { revoke: text } }: Messages): Html {
  return html`<div class="field">
<label for="reason">${text.reason}</label>
<select id="reason" name="reason">${revocationReasons.map((reason) => html`<option value="${reason}">${text.reasons[reason]}</option>`)}</select>
</div>
`;
}
