// What is said where Node is too old for the sources: a sentence, before anything is loaded that such a Node can't read.
const LEAST = 24;

/**
 * @param {string} version as `process.version` has it
 * @returns {string | undefined} undefined where it is new enough
 */
export function nodeFault(version) {
  const major = Number(/^v(\d+)\./.exec(version)?.[1]);
  return major >= LEAST
    ? undefined
    : `Signet needs Node ${LEAST} or later, and this is ${version}. "npm start" and "npm run signet" bring their own; it is node_modules/.bin/node after "npm ci".`;
}
