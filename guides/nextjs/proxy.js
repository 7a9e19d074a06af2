/** What signs people in; before Next.js 16 it is called middleware.js. */
import { signetMiddleware } from "@signet/nextjs/middleware";

export default signetMiddleware({ publicPaths: ["/"] });
export const config = { matcher: ["/((?!_next/|favicon.ico).*)"] };
