import { signIn } from "../../auth";

export const GET = () => signIn("signet", { redirectTo: "/" });
