/** A witness in a process that is killed. Its argument is `witness.yaml`; it says its port. */
import { openWitness } from "../witness/open-witness.ts";

const { port } = await openWitness(process.argv[2] ?? "", { log: () => {}, clock: Date.now });
process.stdout.write(`${port}\n`);
