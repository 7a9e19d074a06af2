/** Checks a configuration and applies the defaults. Every check adds its finding to one list of reasons. */
import { configurationError } from "../errors.ts";
import { checkCredentials } from "./credentials.ts";
import { checkOAuth } from "./oauth.ts";
import { propertyProblems } from "./properties.ts";
import type { Settings, SignetConfiguration } from "./settings.ts";
import { checkSovereign } from "./sovereign.ts";
import { checkUrls } from "./urls.ts";

/**
 * Checks a configuration and applies the defaults.
 *
 * @throws SignetError `configuration`, with every problem in `reasons`: an application that would be left unprotected doesn't start
 */
export function checkConfiguration(configuration: SignetConfiguration): Settings {
  // Types first: the checks after it rely on them.
  const problems = propertyProblems(configuration);
  if (problems.length > 0) throw configurationError(...problems);
  const reasons: string[] = [];
  const { filterType, isOptional = false, environment = "production" } = configuration;
  const urls = checkUrls(configuration, reasons);
  const settings: Settings = {
    ...{ filterType, isOptional, environment, ...urls },
    ...checkCredentials(configuration, reasons),
    ...checkOAuth(configuration, reasons),
    ...checkSovereign(configuration, urls.issuer, reasons),
    revalidateAfterSeconds: configuration.revalidateAfterSeconds ?? 60,
  };
  if (reasons.length > 0) throw configurationError(...reasons);
  return settings;
}
