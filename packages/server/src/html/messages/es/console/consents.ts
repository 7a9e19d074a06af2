/** Los consentimientos: lo que pueden usar las aplicaciones, según los usuarios y los administradores. */
import type { Messages } from "../../en/en.ts";
import { formatDay } from "../../format.ts";

const LOCALE = "es";

export const consents: Messages["console"]["consents"] = {
  summary: (organisation) =>
    `Lo que los usuarios y administradores de ${organisation} han permitido a las aplicaciones. Al retirar un permiso termina el acceso que depende de él.`,
  tabs: { label: "Consentimientos", consents: "Consentimientos", preauthorizations: "Preautorizaciones" },
  grant: "Permitir algo a una aplicación",
  user: "Correo electrónico del usuario",
  application: "Aplicación",
  applicationHint: "Nombre o identificador",
  kind: "Para quién",
  anyKind: "Cualquiera",
  kinds: { user: "Un usuario", organisation: "Todos" },
  state: "Estado",
  states: { living: "Activo", revoked: "Retirado" },
  columns: { who: "Para", application: "Aplicación", scopes: "Qué", since: "Desde", until: "Hasta" },
  everybody: "Todos",
  formerUser: "Un antiguo usuario",
  by: (who) => `por ${who}`,
  day: (milliseconds) => formatDay(LOCALE, milliseconds),
  none: "Todavía no hay consentimientos",
  noneText:
    "Cuando un usuario permite una aplicación, aparece aquí. También puedes permitir una aplicación para todos; entonces no se pregunta a nadie.",
  unknownUser: "Aquí no hay ningún usuario con esta dirección.",
  unknownApplication: "Aquí no hay ninguna aplicación así.",
  several: "Hay varias aplicaciones así. Elige una:",
  revoke: "Retirar",
  revokeOf: (application) => `Retirar el permiso de ${application}`,
  revokeTitle: (application) => `¿Retirar el permiso de ${application}?`,
  revokeUser: (email) =>
    `Se dio para ${email}. Los tokens de actualización que dependen de él terminan al instante, y con ellos los tokens de acceso dondequiera que se comprueben. Se volverá a preguntar al usuario cuando use la aplicación.`,
  revokeEverybody:
    "Se dio para todos. Los tokens de actualización que dependen de él terminan al instante, y con ellos los tokens de acceso dondequiera que se comprueben. Se volverá a preguntar a los usuarios cuando usen la aplicación.",
  scopesAre: "Scopes incluidos:",
  choose: "¿Qué aplicación?",
  chooseText: "Busca la aplicación a la que quieres permitir algo.",
  noApplications: "Todavía no hay ninguna aplicación. Crea una primero.",
  grantTitle: (application) => `Permitir algo a ${application}`,
  grantText: "Lo que permitas aquí ya no se pregunta a los usuarios.",
  forWhom: "Para quién",
  forOrganisation: "Toda la organización",
  forOrganisationText: "No se pregunta a nadie, tampoco a quien llegue después.",
  forUser: "Un usuario",
  forUserText: "No se le pregunta. Lo ve entre sus aplicaciones y puede retirarlo.",
  email: "Correo electrónico",
  scopes: "Lo que puede usar",
  scopesHint: "Lo que ya estaba permitido sigue permitido.",
  noScopes: "La aplicación no puede pedir ningún scope. Añade primero scopes a sus ajustes.",
  submit: "Permitir",
  faults: {
    scopes: "Elige al menos un scope.",
    asked: "La aplicación ya no puede pedir uno de estos scopes. Elige de nuevo.",
    email: "Aquí no hay ningún usuario con esta dirección. Comprueba la dirección.",
    forWhom: "Elige para quién es.",
    there: "La aplicación ya está preautorizada exactamente para estos scopes.",
  },
  preauthorizations: {
    summary:
      "Un sí antes de cualquier solicitud: una aplicación preautorizada nunca pide estos scopes a los usuarios. Cada preautorización es independiente y se elimina por separado.",
    grant: "Preautorizar una aplicación",
    none: "No hay ninguna aplicación preautorizada",
    noneText: "Preautoriza tus propias aplicaciones, para que nadie tenga que decir si confía en ellas.",
    title: (application) => `Preautorizar ${application}`,
    text: "No se pregunta a los usuarios por estos scopes. No lo ven entre sus aplicaciones.",
    submit: "Preautorizar",
    remove: "Eliminar",
    removeOf: (application) => `Eliminar la preautorización de ${application}`,
    removeTitle: (application) => `¿Eliminar la preautorización de ${application}?`,
    removeText:
      "Los tokens de actualización que dependen de ella terminan al instante, y con ellos los tokens de acceso dondequiera que se comprueben. Se preguntará a los usuarios cuando usen la aplicación.",
  },
  done: {
    granted: "La aplicación está permitida.",
    revoked: "El permiso se ha retirado.",
    preauthorized: "La aplicación está preautorizada.",
    removed: "La preautorización se ha eliminado.",
  },
};
