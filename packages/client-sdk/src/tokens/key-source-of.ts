/** Which keys a filter trusts. */
import type { Settings } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import type { Provider } from "../provider/discovery.ts";
import { createSovereignKeySource } from "../sovereign/sovereign-key-source.ts";
import type { KeySource } from "./key-source.ts";

/**
 * The keys of the signing pool or the pinned ones, where the settings have any: then never the provider's own, which the
 * service could sign with by itself (sovereign-signing.md §8). Else the provider's.
 */
export function keySourceOf(
  settings: Settings,
  provider: Pick<Provider, "keys"> | undefined,
  runtime: Runtime,
): KeySource {
  if (settings.sovereign) return createSovereignKeySource(settings, runtime);
  if (!provider) throw new SignetError("configuration", "There is no provider whose keys could be trusted.");
  return provider.keys;
}
