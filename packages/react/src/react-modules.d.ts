/**
 * What of React the packages here use. Its own types come with empty ones of the DOM, which would stand for everybody's in this
 * repository; applications compile against React's.
 */
declare module "react" {
  export type ReactNode = object | string | number | boolean | null | undefined;
  export interface Context<Value> {
    readonly Provider: (props: { readonly value: Value }) => ReactNode;
  }
  export function createContext<Value>(value: Value): Context<Value>;
  export function createElement(type: unknown, props?: object | null, ...children: ReactNode[]): ReactNode;
  export function useContext<Value>(context: Context<Value>): Value;
  export function useEffect(effect: () => () => void, dependencies: readonly unknown[]): void;
  export function useMemo<Value>(make: () => Value, dependencies: readonly unknown[]): Value;
  export function useState<Value>(value: Value): [Value, (value: Value) => void];
  export function useSyncExternalStore<Value>(
    subscribe: (changed: () => void) => () => void,
    current: () => Value,
    onServer: () => Value,
  ): Value;
}
declare module "react-dom/client" {
  export function createRoot(container: object): { render(node: import("react").ReactNode): void };
}
declare module "react-dom/server" {
  export function renderToString(node: import("react").ReactNode): string;
}
