/** Whether an application is enabled, in a word. */
import type { Application } from "../../../core/applications/application.ts";
import { state } from "../../../html/components/parts.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export function applicationStatus({ disabledAt }: Pick<Application, "disabledAt">, messages: Messages): Html {
  const { list } = messages.console.applications;
  return disabledAt === null ? state("good", list.enabled) : state("bad", list.disabled);
}
