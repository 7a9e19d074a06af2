// Spring Boot signs people in with Signet at `/`, and is an API for its tokens at `/api`. See README.md.
package guide;

import static org.springframework.web.util.HtmlUtils.htmlEscape;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.authority.mapping.GrantedAuthoritiesMapper;
import org.springframework.security.oauth2.client.OAuth2AuthorizationContext;
import org.springframework.security.oauth2.client.RefreshTokenOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizationRequestResolver;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizedClientRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.core.oidc.user.OidcUserAuthority;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.authentication.JwtGrantedAuthoritiesConverter;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

@SpringBootApplication
@RestController
public class Application {
  private final OAuth2AuthorizedClientRepository authorized;

  Application(OAuth2AuthorizedClientRepository authorized) {
    this.authorized = authorized;
  }

  public static void main(String[] parameters) {
    SpringApplication.run(Application.class, parameters);
  }

  /** The API: each request has an access token, whose roles count. */
  @Bean
  @Order(1)
  SecurityFilterChain api(HttpSecurity http) throws Exception {
    var roles = new JwtGrantedAuthoritiesConverter();
    roles.setAuthoritiesClaimName("roles");
    roles.setAuthorityPrefix("ROLE_");
    var converter = new JwtAuthenticationConverter();
    converter.setJwtGrantedAuthoritiesConverter(roles);
    return http.securityMatcher("/api/**")
        .authorizeHttpRequests(
            requests -> requests.requestMatchers("/api/editors").hasRole("editor").anyRequest().authenticated())
        .oauth2ResourceServer(server -> server.jwt(jwt -> jwt.jwtAuthenticationConverter(converter)))
        .build();
  }

  /** The pages: each visitor has a session. */
  @Bean
  @Order(2)
  SecurityFilterChain pages(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var signOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
    signOut.setPostLogoutRedirectUri("{baseUrl}/");
    var signIn = new DefaultOAuth2AuthorizationRequestResolver(clients, "/oauth2/authorization");
    signIn.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
    return http.authorizeHttpRequests(
            requests ->
                requests.requestMatchers("/").permitAll()
                    .requestMatchers("/editors").hasRole("editor")
                    .anyRequest().authenticated())
        .oauth2Login(login -> login.authorizationEndpoint(at -> at.authorizationRequestResolver(signIn)))
        .logout(logout -> logout.logoutSuccessHandler(signOut))
        .build();
  }

  /** The roles of the ID token as Spring's own, for `hasRole`. */
  @Bean
  GrantedAuthoritiesMapper roles() {
    return authorities -> {
      Collection<GrantedAuthority> all = new HashSet<>(authorities);
      for (var authority : authorities)
        if (authority instanceof OidcUserAuthority oidc)
          for (var role : rolesOf(oidc.getIdToken().getClaimAsStringList("roles")))
            all.add(new SimpleGrantedAuthority("ROLE_" + role));
      return all;
    };
  }

  private static List<String> rolesOf(List<String> claim) {
    return claim == null ? List.of() : claim;
  }

  @GetMapping(path = "/", produces = "text/html;charset=utf-8")
  String home(@AuthenticationPrincipal OidcUser user, Authentication session, CsrfToken csrf, HttpServletRequest request) {
    if (user == null)
      return "<p><a id=\"sign-in\" href=\"/oauth2/authorization/signet\">Sign in</a></p>";
    var tokens = authorized.loadAuthorizedClient("signet", session, request);
    var token = tokens.getAccessToken().getTokenValue();
    var issuer = user.getIssuer().toString();
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("name", user.getFullName());
    facts.put("email", user.getEmail());
    facts.put("roles", String.join(", ", rolesOf(user.getClaimAsStringList("roles"))));
    facts.put("org", issuer.substring(issuer.lastIndexOf('/') + 1));
    facts.put("token", token.substring(token.length() - 8));
    var list =
        facts.entrySet().stream()
            .map(fact -> "<dt>" + fact.getKey() + "</dt><dd>" + htmlEscape(fact.getValue()) + "</dd>")
            .collect(Collectors.joining());
    return "<dl>" + list + "</dl>"
        + "<form id=\"sign-out\" method=\"post\" action=\"/logout\"><input type=\"hidden\" name=\"_csrf\" value=\""
        + csrf.getToken() + "\"><button>Sign out</button></form>";
  }

  /** Spring refreshes by itself a minute before the token expires; here at once. */
  @GetMapping("/refresh")
  ResponseEntity<Void> refresh(Authentication session, HttpServletRequest request, HttpServletResponse response) {
    var provider = new RefreshTokenOAuth2AuthorizedClientProvider();
    provider.setClockSkew(Duration.ofDays(1));
    var before = authorized.loadAuthorizedClient("signet", session, request);
    var context = OAuth2AuthorizationContext.withAuthorizedClient(before).principal(session).build();
    authorized.saveAuthorizedClient(provider.authorize(context), session, request, response);
    return ResponseEntity.status(303).header("Location", "/").build();
  }

  /** For editors alone, with what the API answers to their access token. */
  @GetMapping(path = "/editors", produces = "application/json")
  String editors(Authentication session, HttpServletRequest request) {
    var tokens = authorized.loadAuthorizedClient("signet", session, request);
    return RestClient.create("http://localhost:" + request.getLocalPort()).get()
        .uri("/api/editors")
        .headers(headers -> headers.setBearerAuth(tokens.getAccessToken().getTokenValue()))
        .retrieve()
        .body(String.class);
  }

  @GetMapping({"/api/me", "/api/editors"})
  Map<String, Object> me(@AuthenticationPrincipal Jwt token) {
    return Map.of("sub", token.getSubject(), "roles", rolesOf(token.getClaimAsStringList("roles")));
  }
}
