import assert from "node:assert/strict";
import { test } from "node:test";
import { auditActions, auditGroups } from "../../core/audit/actions.ts";
import { LOCALES, messages } from "../../html/messages/messages.ts";

test("every action and group has a text in every language, unique among actions", () => {
  for (const locale of LOCALES) {
    const { actions, groups } = messages([locale]).console.auditLog;
    assert.deepEqual(Object.keys(actions).sort(), [...auditActions].sort(), locale);
    assert.deepEqual(Object.keys(groups).sort(), Object.keys(auditGroups).sort(), locale);
    assert.equal(new Set(Object.values(actions)).size, auditActions.length, locale);
  }
});
