/** The texts of the console and of the account pages' frame, area by area. */

import { account } from "./account.ts";
import { applicationSettings } from "./application-settings.ts";
import { applications } from "./applications.ts";
import { auditLog } from "./audit-log.ts";
import { consents } from "./consents.ts";
import { frame } from "./frame.ts";
import { mailTemplates } from "./mail-templates.ts";
import { overview } from "./overview.ts";
import { pools } from "./pools.ts";
import { quickstart } from "./quickstart.ts";
import { scopes } from "./scopes.ts";
import { settings } from "./settings.ts";
import { signingKeys } from "./signing-keys.ts";
import { systemAccounts } from "./system-accounts.ts";
import { users } from "./users.ts";

export const consoleTexts = {
  account,
  applications,
  applicationSettings,
  quickstart,
  auditLog,
  frame,
  overview,
  scopes,
  consents,
  signingKeys,
  users,
  systemAccounts,
  settings,
  pools,
  mailTemplates,
};
