import { missingPython, python } from "../../interop/clients/python-program.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide } from "../support/guide.ts";

followGuide({
  name: "django",
  missing: missingPython("mozilla_django_oidc"),
  start: ({ folder, port }) => {
    const manage = `${JSON.stringify(python)} -B manage.py`;
    // Its reloader runs a child that outlives it when it is killed.
    const script = `set -a; . ./.env; ${manage} migrate -v 0 && exec ${manage} runserver --noreload ${port}`;
    return startProgram("Django", ["sh", "-c", script], { port, folder, startsWithinMs: 120_000 });
  },
});
