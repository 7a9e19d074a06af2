/** What signs people in. */
import { signetMiddleware } from "@signet/nextjs/middleware";

export default signetMiddleware({ publicPaths: ["/"] });
export const config = { matcher: ["/((?!_next/|favicon.ico).*)"] };
