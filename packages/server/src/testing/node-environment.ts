/** The environment of a started Node process: PATH and the compile cache only. */
export function nodeEnvironment(): Record<string, string> {
  const named = ["PATH", "NODE_COMPILE_CACHE"].map((name) => [name, process.env[name]]);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Record<string, string>;
}
