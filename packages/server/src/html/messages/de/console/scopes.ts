/** Scopes: wonach Anwendungen mit Namen fragen können. */
import type { Messages } from "../../en/en.ts";

export const scopes: Messages["console"]["scopes"] = {
  summary: (organisation) =>
    `Wonach Anwendungen bei ${organisation} fragen können. Ein Scope entscheidet, welche Angaben über Benutzer eine Anwendung bekommt.`,
  own: "Eigene Scopes",
  ownText:
    "Jeder fügt Claims zu den Access-Token und Benutzerangaben der Anwendungen hinzu, die nach ihm fragen dürfen.",
  make: "Neuer Scope",
  makeTitle: "Neuer Scope",
  search: "Name des Scopes",
  none: "Es gibt noch keinen eigenen Scope",
  noneText:
    "Legen Sie einen an, wenn eine Anwendung mehr wissen muss als Name, Adresse und Telefonnummer: eine Abteilung, eine Rolle, eine Kostenstelle.",
  columns: { name: "Scope-Name", shown: "Text für Benutzer", claims: "Enthaltene Claims" },
  noClaims: "Keine",
  sensitive: "Vertraulich",
  standard: "Standard-Scopes",
  standardText:
    "OpenID Connect legt sie fest. Sie sind bei jeder Organisation gleich und lassen sich nicht ändern.",
  standardClaims: {
    offline_access: "Keine: ein Refresh-Token",
  },
  details: "Was er freigibt",
  edit: "Ändern",
  editTitle: (name) => `${name} ändern`,
  deleteScope: "Löschen",
  deleteTitle: (name) => `${name} löschen?`,
  deleteText:
    "Ab dem nächsten Token gibt er nichts mehr frei. Anwendungen und Zustimmungen, die ihn nennen, behalten den Namen ohne Wirkung.",
  deleteUsed: "Diese Anwendungen dürfen nach ihm fragen:",
  deleteUnused: "Keine Anwendung darf nach ihm fragen.",
  deleteSubmit: "Scope löschen",
  used: "Anwendungen, die nach ihm fragen dürfen",
  usedText: "Nach welchen Scopes eine Anwendung fragen darf, steht in ihren Einstellungen.",
  unused: "Noch keine. Fügen Sie ihn den Scopes einer Anwendung hinzu.",
  others: (count) => `und ${count} weitere`,
  name: "Name des Scopes",
  nameHint:
    "So fragen Anwendungen nach ihm, zum Beispiel payroll oder orders:read. Er lässt sich später nicht ändern.",
  displayName: "Angezeigt als",
  displayNameHint: "Was Benutzer lesen, wenn eine Anwendung danach fragt, zum Beispiel: Ihr Gehalt sehen.",
  description: "Beschreibung",
  descriptionHint: "Ein weiterer Satz für Benutzer, die wissen möchten, was sie erlauben.",
  sensitiveHint: "Die Zustimmungsseite hebt ihn hervor, damit Benutzer genau hinsehen.",
  claims: "Enthaltene Claims",
  claimsHint:
    "Was Anwendungen erfahren. Ein Claim ohne Wert entfällt. Benutzer werden erneut gefragt, wenn ein Scope mehr freigibt, als sie erlaubt haben.",
  claim: (count) => `${count}. Claim`,
  claimName: "Name des Claims",
  claimFrom: "Sein Wert",
  claimWhat: "Attribut oder Wert",
  claimWhatHint:
    "Bei Attributen der Name des Attributs; bei einem festen Wert der Wert als Text oder JSON. Um einen Claim zu entfernen, leeren Sie seine Felder.",
  addClaim: "Weiteren Claim hinzufügen",
  origins: {
    "user.email": "E-Mail-Adresse",
    "user.firstname": "Vorname",
    "user.surname": "Nachname",
    "user.phone": "Telefonnummer",
    "user.permId": "Benutzer-ID",
    "user.username": "Benutzername",
    "user.locale": "Sprache",
    "user.attribute": "Attribut des Benutzers",
    "membership.role": "Rolle in der Organisation",
    "membership.groups": "Gruppen in der Organisation",
    "membership.attribute": "Attribut der Mitgliedschaft",
    static: "Fester Wert",
  },
  faults: {
    "name-form": "Ein Scope-Name hat 1 bis 100 Zeichen, ohne Leerzeichen, Anführungszeichen und Backslash.",
    "name-standard": "Das ist ein Standard-Scope. Wählen Sie einen anderen Namen.",
    "name-taken": "Es gibt schon einen Scope mit diesem Namen.",
    "too-many-scopes":
      "Eine Organisation hat höchstens 100 Scopes. Löschen Sie einen, der nicht mehr gebraucht wird.",
    text: "Schreiben Sie hier etwas Kurzes: höchstens 100 Zeichen im Namen, 500 in der Beschreibung, keine Steuerzeichen.",
    "too-many-claims": "Ein Scope hat höchstens 50 Claims.",
    "claim-name":
      "Ein Claim beginnt mit einem Buchstaben und hat 1 bis 100 Buchstaben, Ziffern und die Zeichen _ . : / -.",
    "claim-reserved": "Diesen Namen brauchen Token selbst. Wählen Sie einen anderen.",
    "claim-source": "Wählen Sie, woher der Wert kommt.",
    "claim-path": "Nennen Sie das Attribut: Buchstaben, Ziffern, _ und -.",
    "claim-value": "Schreiben Sie den Wert: einen Text oder JSON mit höchstens 2000 Zeichen und 32 Ebenen.",
    "claim-meaning":
      "OpenID Connect legt fest, was dieser Claim bedeutet. Er kann nur die Benutzerangabe dieses Namens sein.",
    "claim-twice": "Der Scope hat diesen Claim schon.",
  },
  save: "Scope speichern",
  create: "Scope anlegen",
  done: {
    created: "Der Scope ist angelegt. Anwendungen können ihn nutzen, sobald er unter ihren Scopes steht.",
    saved: "Der Scope ist gespeichert.",
    deleted: "Der Scope ist gelöscht.",
  },
};
