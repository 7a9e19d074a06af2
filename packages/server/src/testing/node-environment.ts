/** What a started Node gets of this process's environment: where programs are, and what others have compiled before. */
export function nodeEnvironment(): Record<string, string> {
  const named = ["PATH", "NODE_COMPILE_CACHE"].map((name) => [name, process.env[name]]);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Record<string, string>;
}
