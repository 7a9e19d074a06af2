/** The filter None: everybody is let through, and nobody is known (specification, "Client configuration (SDK)"). */
import { checkConfiguration, type SignetConfiguration } from "./configuration.ts";
import type { Filter } from "./filter.ts";

/**
 * Makes a filter that authenticates nobody, so that an application keeps its one line of protection while it is switched off
 * by its configuration. Throws `SignetError` `configuration`.
 */
export function none(configuration: SignetConfiguration): Filter {
  checkConfiguration({ ...configuration, filterType: "None" });
  return { filterType: "None", authenticate: async () => ({ kind: "anonymous", cookies: [] }) };
}
