// The load process: the generator has a core of its own and shares nothing with the servers or the bench.
import { answerQuestions } from "../child-side.ts";
import type { LoadPlan, LoadResult } from "./load-plan.ts";
import { runLoad } from "./load-run.ts";

answerQuestions<LoadPlan, LoadResult>({ port: 0 }, runLoad);
