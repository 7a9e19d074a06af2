import { type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { notice } from "./notice.ts";

export function recoveryCodeList(codes: readonly string[], messages: Messages): Html {
  const text = messages.recoveryCodes;
  return html`<p>${text.explanation}</p>
${notice("hint", "codes-notice", text.once, text.onceText)}
<pre class="codes" id="recovery-codes" aria-label="${text.list}">${codes.join("\n")}</pre>
<button class="button" type="button" data-copy="recovery-codes" data-copied="${text.copied}" hidden>${text.copy}</button>
<p class="visually-hidden" id="copy-status" role="status"></p>
`;
}
