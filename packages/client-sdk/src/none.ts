/** The filter None: every request is anonymous (specification, "Client configuration (SDK)"). */
import { checkConfiguration } from "./configuration/check-configuration.ts";
import type { SignetConfiguration } from "./configuration/settings.ts";
import type { Filter } from "./filter.ts";

/**
 * Creates a filter that authenticates nobody, so that configuration alone can switch an application's protection off.
 *
 * @throws SignetError `configuration`
 */
export function none(configuration: SignetConfiguration): Filter {
  checkConfiguration({ ...configuration, filterType: "None" });
  return { filterType: "None", authenticate: async () => ({ kind: "anonymous", cookies: [] }) };
}
