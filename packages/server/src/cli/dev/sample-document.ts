/** The example that `signet dev --init` writes. */
export const sampleDocument = `# What \`signet dev\` runs. Change it while the server runs: it follows.
organisations:
  - name: Acme
    # Passwords that are left out are made up, and printed.
    users:
      - email: ada@acme.example
        firstname: Ada
        surname: Lovelace
        role: Administrator
      - email: bob@acme.example
        firstname: Bob
        surname: Baker
        roles: [web/editor]
        groups: [Staff]
    groups: [Staff]
    roles:
      - application: web
        key: editor
        permissions: ["orders:write"]
    # Sections of \`signet config apply\`: scopes, policies, branding, emails, and these applications, where \`url\` fills in redirect
    # URIs. Nobody is asked for consent unless an application says \`consentMode: user\`.
    applications:
      - name: Web
        url: http://localhost:3000
        allowedScopes: [openid, profile, email, offline_access, roles, groups]
        groupsClaim: all
      - name: Single page
        clientType: spa
        url: http://localhost:5173
`;
