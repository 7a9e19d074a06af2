/** Commands on one record of an organisation, which their only positional argument names. */
import type { Organisation } from "../core/organisations/organisation.ts";
import type { Service } from "../modules/open-service.ts";
import { type Call, type Command, jsonOption, type Options, orgOption } from "./command.ts";
import { organisationOf, withService } from "./with-service.ts";

type Make<Found> = (
  verb: string,
  summary: string,
  act: (service: Service, call: Call, found: Found) => Promise<number>,
  more?: { usage?: string; options?: Options },
) => Command;

/** @param find throws when the organisation has no such record */
export function commandsOn<Found>(
  noun: string,
  find: (service: Service, organisation: Organisation, call: Call) => Promise<Found>,
): Make<Found> {
  return (verb, summary, act, more = {}) => ({
    name: `${noun} ${verb}`,
    summary,
    usage: `ID --org ID ${more.usage ?? ""}[--json]`,
    positionals: 1,
    options: { ...orgOption, ...more.options, ...jsonOption },
    run: (call) =>
      withService(call, async (service) => {
        const organisation = await organisationOf(service, call.values);
        return act(service, call, await find(service, organisation, call));
      }),
  });
}
