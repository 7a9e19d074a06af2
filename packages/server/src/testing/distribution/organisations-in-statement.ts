/**
 * Which organisations a statement names, and the tables for which it names none. PostgreSQL's own parser reads it; then what is
 * equal to what is followed, through joins, subqueries and common table expressions. A table distributed by organisation must
 * come out equal to a value: only then is the statement one node's alone.
 */
import { loadModule, parseSync } from "libpg-query";

/** By table, the column that it is distributed by. */
export type Distribution = ReadonlyMap<string, string>;

export interface NamedOrganisations {
  /** Tables for which the statement names no organisation. */
  readonly without: readonly string[];
  /** The parameters that name one, from 1. */
  readonly parameters: readonly number[];
  /** Some table's organisation may be one of several. */
  readonly isList: boolean;
}

export const loadParser = (): Promise<void> => loadModule();

type Tree = { readonly [name: string]: unknown };
const isTree = (one: unknown): one is Tree => typeof one === "object" && one !== null;
const child = (one: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((at, name) => (isTree(at) ? at[name] : undefined), one);
const list = (one: unknown): readonly unknown[] => (Array.isArray(one) ? one : []);

const returned = (change: unknown): readonly unknown[] => list(child(change, "returningClause", "exprs"));

/** What a name stands for in a scope. */
interface Source {
  readonly columns: (name: string) => string | undefined;
  /** Of a table: for columns without the table's name. */
  readonly key?: string;
}

interface Scope {
  readonly sources: Map<string, Source>;
  readonly queries: ReadonlyMap<string, Source>;
  readonly outer?: Scope;
}

export function organisationsIn(statement: string, distribution: Distribution): NamedOrganisations {
  const reading = readStatements(distribution);
  for (const one of list(child(parseSync(statement), "stmts"))) reading.read(child(one, "stmt"));
  return reading.result();
}

function readStatements(distribution: Distribution) {
  const classes = equalities();
  const tables: Array<{ readonly table: string; readonly node: string }> = [];
  const lists: string[] = [];

  const sourceOf = (table: string, scope: Scope): Source => {
    const query = scope.queries.get(table);
    if (query) return query;
    const key = distribution.get(table);
    const place = `${table}#${tables.length}`;
    if (key === undefined) return { columns: (name) => `${place}.${name}` };
    tables.push({ table, node: `${place}.${key}` });
    return { columns: (name) => `${place}.${name}`, key };
  };

  const addTable = (one: unknown, scope: Scope): Source => {
    const name = String(child(one, "relname"));
    // A schema of the system's.
    const source =
      child(one, "schemaname") === undefined ? sourceOf(name, scope) : { columns: () => undefined };
    scope.sources.set(String(child(one, "alias", "aliasname") ?? name), source);
    return source;
  };

  const addFrom = (one: unknown, scope: Scope, conditions: unknown[]): void => {
    const [table, join, query] = [
      child(one, "RangeVar"),
      child(one, "JoinExpr"),
      child(one, "RangeSubselect"),
    ];
    if (table) addTable(table, scope);
    else if (join) {
      addFrom(child(join, "larg"), scope, conditions);
      addFrom(child(join, "rarg"), scope, conditions);
      conditions.push(child(join, "quals"));
    } else if (query) {
      const source = readQuery(child(query, "subquery"), scope);
      scope.sources.set(String(child(query, "alias", "aliasname")), source);
    } else readInside(one, scope);
  };

  /** What a value is equal to: a column, a parameter or a constant. */
  const nodeOf = (one: unknown, scope: Scope): string | undefined => {
    if (!isTree(one)) return undefined;
    if (one["TypeCast"]) return nodeOf(child(one, "TypeCast", "arg"), scope);
    if (one["ParamRef"]) return `$${child(one, "ParamRef", "number")}`;
    const text = child(one, "A_Const", "sval", "sval");
    if (text !== undefined) return `'${text}`;
    const names = list(child(one, "ColumnRef", "fields")).map((field) => child(field, "String", "sval"));
    return names.every((name) => typeof name === "string") ? columnNode(names, scope) : undefined;
  };

  const readCondition = (one: unknown, scope: Scope): void => {
    const all = child(one, "BoolExpr");
    if (child(all, "boolop") === "AND_EXPR")
      for (const part of list(child(all, "args"))) readCondition(part, scope);
    const compared = child(one, "A_Expr");
    if (!isTree(compared) || child(list(compared["name"])[0], "String", "sval") !== "=") return;
    const left = nodeOf(compared["lexpr"], scope);
    if (compared["kind"] === "AEXPR_IN") {
      const items = list(child(compared["rexpr"], "List", "items"));
      const [only] = items;
      if (left === undefined || items.length === 0) return;
      if (items.length === 1) classes.join(left, nodeOf(only, scope) ?? left);
      else lists.push(left);
    }
    const right = compared["kind"] === "AEXPR_OP" ? nodeOf(compared["rexpr"], scope) : undefined;
    if (left !== undefined && right !== undefined) classes.join(left, right);
  };

  /** Subqueries in expressions. */
  const readInside = (one: unknown, scope: Scope): void => {
    if (Array.isArray(one)) for (const part of one) readInside(part, scope);
    else if (isTree(one)) {
      const query = child(one, "SubLink", "subselect");
      if (query) readQuery(query, scope);
      for (const [name, part] of Object.entries(one)) if (name !== "subselect") readInside(part, scope);
    }
  };

  const scopeWithin = (statement: unknown, outer: Scope | undefined): Scope => {
    const queries = new Map(outer?.queries ?? []);
    const scope: Scope = { sources: new Map(), queries, ...(outer ? { outer } : {}) };
    for (const one of list(child(statement, "withClause", "ctes"))) {
      const name = String(child(one, "CommonTableExpr", "ctename"));
      // A recursive one reads itself.
      queries.set(name, { columns: () => undefined });
      queries.set(name, readQuery(child(one, "CommonTableExpr", "ctequery"), scope));
    }
    return scope;
  };

  const readSelect = (select: unknown, outer: Scope | undefined): Source => {
    const scope = scopeWithin(select, outer);
    for (const side of ["larg", "rarg"] as const) {
      const part = child(select, side);
      if (part) readSelect(part, scope);
    }
    const conditions: unknown[] = [child(select, "whereClause")];
    for (const one of list(child(select, "fromClause"))) addFrom(one, scope, conditions);
    for (const one of conditions) readCondition(one, scope);
    const { fromClause: _from, withClause: _with, larg: _left, rarg: _right, ...rest } = select as Tree;
    // The first condition is among the rest.
    readInside([rest, conditions.slice(1)], scope);
    return { columns: outputs(list(child(select, "targetList")), scope) };
  };

  /** The columns that whoever reads the query sees. */
  const outputs = (targets: readonly unknown[], scope: Scope): Source["columns"] => {
    const nodes = new Map<string, string | undefined>();
    for (const one of targets) {
      const value = child(one, "ResTarget", "val");
      const field = child(list(child(value, "ColumnRef", "fields")).at(-1), "String", "sval");
      nodes.set(String(child(one, "ResTarget", "name") ?? field), nodeOf(value, scope));
    }
    return (name) => nodes.get(name);
  };

  const readInsert = (insert: unknown, outer: Scope | undefined): Source => {
    const scope = scopeWithin(insert, outer);
    const source = addTable(child(insert, "relation"), scope);
    const names = list(child(insert, "cols")).map((one) => child(one, "ResTarget", "name"));
    const at = names.indexOf(source.key);
    const target = source.columns(source.key ?? "") ?? "";
    const select = child(insert, "selectStmt", "SelectStmt");
    for (const row of list(child(select, "valuesLists")))
      classes.join(target, nodeOf(list(child(row, "List", "items"))[at], scope) ?? target);
    const read = scopeWithin(select, scope);
    if (list(child(select, "targetList")).length > 0) {
      const conditions: unknown[] = [child(select, "whereClause")];
      for (const one of list(child(select, "fromClause"))) addFrom(one, read, conditions);
      for (const one of conditions) readCondition(one, read);
      const value = child(list(child(select, "targetList"))[at], "ResTarget", "val");
      classes.join(target, nodeOf(value, read) ?? target);
    }
    const { fromClause: _from, withClause: _with, ...rest } = isTree(select) ? select : {};
    readInside([rest, child(insert, "onConflictClause"), returned(insert)], read);
    return { columns: outputs(returned(insert), scope) };
  };

  const readChange = (change: unknown, outer: Scope | undefined): Source => {
    const scope = scopeWithin(change, outer);
    addTable(child(change, "relation"), scope);
    const conditions: unknown[] = [child(change, "whereClause")];
    for (const one of [...list(child(change, "fromClause")), ...list(child(change, "usingClause"))])
      addFrom(one, scope, conditions);
    for (const one of conditions) readCondition(one, scope);
    readInside([child(change, "targetList"), conditions, returned(change)], scope);
    return { columns: outputs(returned(change), scope) };
  };

  const readQuery = (statement: unknown, outer?: Scope): Source => {
    const select = child(statement, "SelectStmt");
    if (select) return readSelect(select, outer);
    const insert = child(statement, "InsertStmt");
    if (insert) return readInsert(insert, outer);
    const change = child(statement, "UpdateStmt") ?? child(statement, "DeleteStmt");
    return change ? readChange(change, outer) : { columns: () => undefined };
  };

  return {
    read: (statement: unknown) => void readQuery(statement),
    result: (): NamedOrganisations => {
      const named = tables.map(({ table, node }) => ({ table, equal: classes.of(node) }));
      const isListed = (equal: readonly string[]) => lists.some((node) => equal.includes(node));
      const isValue = (node: string) => node.startsWith("$") || node.startsWith("'");
      const parameters = named.flatMap(({ equal }) => equal.filter((node) => node.startsWith("$")));
      return {
        without: named
          .filter(({ equal }) => !equal.some(isValue) && !isListed(equal))
          .map(({ table }) => table),
        parameters: [...new Set(parameters)].map((node) => Number(node.slice(1))),
        isList: named.some(({ equal }) => !equal.some(isValue) && isListed(equal)),
      };
    },
  };
}

function columnNode(names: readonly string[], scope: Scope): string | undefined {
  const [column = "", table] = names.toReversed();
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    if (table !== undefined) {
      const source = at.sources.get(table);
      if (source) return source.columns(column);
      continue;
    }
    const sources = [...at.sources.values()];
    const owner =
      sources.find(({ key }) => key === column) ?? (sources.length === 1 ? sources[0] : undefined);
    if (owner) return owner.columns(column);
  }
  return undefined;
}

/** Which of them are equal to which. */
function equalities() {
  const groups = new Map<string, Set<string>>();
  const of = (node: string): Set<string> => groups.get(node) ?? new Set([node]);
  return {
    join: (one: string, other: string) => {
      const all = new Set([...of(one), ...of(other)]);
      for (const node of all) groups.set(node, all);
    },
    of: (node: string): string[] => [...of(node)],
  };
}
