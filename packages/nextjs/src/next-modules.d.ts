/** What of Next.js this package imports. Next.js itself is the application's: it is not installed here. */
/// <reference path="../../react/src/react-modules.d.ts" />
declare module "next/headers" {
  export function cookies(): Promise<{ getAll(): { name: string; value: string }[] }>;
}
declare module "next/navigation" {
  export function redirect(url: string): never;
}
declare module "next/server" {
  export const NextResponse: {
    next(init: { request: { headers: Headers } }): Response;
  };
}
