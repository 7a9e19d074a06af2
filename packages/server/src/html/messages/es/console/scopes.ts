/** Los scopes: lo que las aplicaciones pueden pedir por su nombre. */
import type { Messages } from "../../en/en.ts";

export const scopes: Messages["console"]["scopes"] = {
  summary: (organisation) =>
    `Lo que las aplicaciones pueden pedir en ${organisation}. Un scope decide qué datos de un usuario recibe una aplicación.`,
  own: "Tus propios scopes",
  ownText:
    "Cada uno añade claims a los tokens de acceso y a los datos de usuario de las aplicaciones que pueden pedirlo.",
  make: "Nuevo scope",
  makeTitle: "Nuevo scope",
  search: "Nombre del scope",
  none: "Todavía no hay ningún scope propio",
  noneText:
    "Crea uno cuando una aplicación necesite saber más que el nombre, la dirección y el teléfono: un departamento, un rol, un centro de coste.",
  columns: { name: "Nombre del scope", shown: "Lo que ven los usuarios", claims: "Claims incluidos" },
  noClaims: "Ninguno",
  sensitive: "Sensible",
  standard: "Scopes estándar",
  standardText:
    "Los define OpenID Connect. Son los mismos en todas las organizaciones y no se pueden cambiar.",
  standardClaims: {
    offline_access: "Ninguno: un token de actualización",
  },
  details: "Lo que da",
  edit: "Editar",
  editTitle: (name) => `Editar ${name}`,
  deleteScope: "Eliminar",
  deleteTitle: (name) => `¿Eliminar ${name}?`,
  deleteText:
    "Deja de dar nada desde el próximo token. Las aplicaciones y los consentimientos que lo nombran conservan el nombre sin efecto.",
  deleteUsed: "Estas aplicaciones pueden pedirlo:",
  deleteUnused: "Ninguna aplicación puede pedirlo.",
  deleteSubmit: "Eliminar el scope",
  used: "Aplicaciones que pueden pedirlo",
  usedText: "Los scopes que una aplicación puede pedir forman parte de sus ajustes.",
  unused: "Ninguna todavía. Añádelo a los scopes de una aplicación.",
  others: (count) => `y ${count} más`,
  name: "Nombre del scope",
  nameHint:
    "Tal como lo piden las aplicaciones, por ejemplo payroll u orders:read. Después no se puede cambiar.",
  displayName: "Se muestra como",
  displayNameHint: "Lo que leen los usuarios cuando una aplicación lo pide, por ejemplo: Ver tu nómina.",
  description: "Descripción",
  descriptionHint: "Una frase más para los usuarios que quieren saber qué permiten.",
  sensitiveHint: "La página de consentimiento lo marca para que los usuarios se fijen bien.",
  claims: "Claims incluidos",
  claimsHint:
    "Lo que llegan a saber las aplicaciones. Un claim sin valor se omite. Se vuelve a preguntar a los usuarios cuando un scope da más de lo que aceptaron.",
  claim: (count) => `Claim n.º ${count}`,
  claimName: "Nombre del claim",
  claimFrom: "Su valor",
  claimWhat: "Atributo o valor",
  claimWhatHint:
    "En un atributo, su nombre; en un valor fijo, el valor como texto o JSON. Para quitar un claim, vacía sus campos.",
  addClaim: "Añadir otro claim",
  origins: {
    "user.email": "Correo electrónico",
    "user.firstname": "Nombre",
    "user.surname": "Apellidos",
    "user.phone": "Número de teléfono",
    "user.permId": "Identificador del usuario",
    "user.username": "Nombre de usuario",
    "user.locale": "Idioma",
    "user.attribute": "Atributo del usuario",
    "membership.role": "Rol en la organización",
    "membership.groups": "Grupos en la organización",
    "membership.attribute": "Atributo de la pertenencia",
    static: "Valor fijo",
  },
  faults: {
    "name-form":
      "Un nombre de scope tiene de 1 a 100 caracteres, sin espacios, comillas ni barras invertidas.",
    "name-standard": "Es un scope estándar. Elige otro nombre.",
    "name-taken": "Ya hay un scope con este nombre.",
    "too-many-scopes": "Una organización tiene como máximo 100 scopes. Elimina uno que ya no haga falta.",
    text: "Escribe aquí algo breve: como máximo 100 caracteres en un nombre, 500 en una descripción, sin caracteres de control.",
    "too-many-claims": "Un scope tiene como máximo 50 claims.",
    "claim-name":
      "Un claim empieza por una letra y tiene de 1 a 100 letras, cifras y los caracteres _ . : / -.",
    "claim-reserved": "Los propios tokens usan este nombre. Elige otro.",
    "claim-source": "Elige de dónde viene el valor.",
    "claim-path": "Indica el atributo: letras, cifras, _ y -.",
    "claim-value": "Escribe el valor: un texto o JSON de 2000 caracteres y 32 niveles como máximo.",
    "claim-meaning":
      "OpenID Connect establece qué significa este claim. Solo puede ser el dato del usuario de ese nombre.",
    "claim-twice": "El scope ya tiene este claim.",
  },
  save: "Guardar el scope",
  create: "Crear el scope",
  done: {
    created: "El scope está creado. Las aplicaciones pueden usarlo cuando figure entre sus scopes.",
    saved: "El scope está guardado.",
    deleted: "El scope está eliminado.",
  },
};
