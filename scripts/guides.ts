/** `npm run guides`: follows every guide whose toolchain is there (guides/README.md); `npm run guides -- guides/express` one of them. */
import { runInterop } from "./interop.ts";

const given = process.argv.slice(2);
const named = given.some((parameter) => !parameter.startsWith("-"));
process.exitCode = await runInterop(named ? given : ["guides", ...given]);
