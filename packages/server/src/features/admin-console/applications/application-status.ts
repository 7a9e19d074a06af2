/** Whether an application is enabled, in a word. */
import type { Application } from "../../../core/applications/application.ts";
import { badge } from "../../../html/components/badge.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export function applicationStatus({ disabledAt }: Pick<Application, "disabledAt">, messages: Messages): Html {
  const { list } = messages.console.applications;
  return disabledAt === null ? badge("good", list.enabled) : badge("bad", list.disabled);
}
