#!/usr/bin/env node
/** The command line. */
import { run } from "./cli/run.ts";
import { sizeThreadPool } from "./config/config.ts";

sizeThreadPool();

process.exitCode = await run(process.argv.slice(2));
