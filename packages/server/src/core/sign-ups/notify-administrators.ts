/** Tells administrators that sign-ups wait: at most once an hour, however many there are. */
import type { Db } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { consumeOnce } from "../consumed-values.store.ts";
import { NO_LANGUAGE } from "../mail/mail.ts";
import type { Outbox } from "../mail/outbox.ts";
import { reachableAdministrators } from "../users/members/administrators.store.ts";

const HOUR_MS = 3_600_000;
const MAX_RECIPIENTS = 20;

export interface NoticeToAdministrators {
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly baseUrl: string;
}

/** The email names nobody: whoever waits has chosen their own name. @param tx the transaction in which one begins to wait */
export async function tellAdministrators(
  tx: Db,
  { clock, outbox, baseUrl }: NoticeToAdministrators,
  orgId: string,
): Promise<void> {
  if (!outbox.isOpen) return;
  const now = clock();
  const hour = Math.floor(now / HOUR_MS);
  const use = { orgId, kind: "sign-ups-waiting", value: String(hour), expiresAt: (hour + 1) * HOUR_MS };
  if (!(await consumeOnce(tx, use))) return;
  const data = { at: now, recordUri: `${baseUrl}/oauth/manage/${orgId}/users/sign-ups` };
  for await (const administrator of reachableAdministrators(tx, orgId, MAX_RECIPIENTS))
    await outbox.put(tx, {
      ...{ orgId, recipient: administrator.email, locale: administrator.locale ?? NO_LANGUAGE },
      mail: { template: "SignUpsWaiting", data },
    });
}
