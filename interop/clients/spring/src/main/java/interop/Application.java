// Spring Boot with the two application.yml that `app create --for spring` prints: a client at `/`, a resource server at `/api`.
package interop;

import java.time.Duration;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.OAuth2AuthorizationContext;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.RefreshTokenOAuth2AuthorizedClientProvider;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Application {
  public static void main(String[] parameters) {
    SpringApplication.run(Application.class, parameters);
  }

  @Bean
  @Order(1)
  SecurityFilterChain api(HttpSecurity http) throws Exception {
    return http.securityMatcher("/api/**")
        .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()))
        .build();
  }

  @Bean
  @Order(2)
  SecurityFilterChain pages(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var signOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
    signOut.setPostLogoutRedirectUri("{baseUrl}");
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2Login(Customizer.withDefaults())
        .logout(logout -> logout.logoutSuccessHandler(signOut))
        .build();
  }

  @GetMapping("/")
  Map<String, Object> home(
      @AuthenticationPrincipal OidcUser user,
      @RegisteredOAuth2AuthorizedClient("signet") OAuth2AuthorizedClient client) {
    return Map.of(
        "sub", user.getSubject(),
        "name", user.getFullName(),
        "email", user.getEmail(),
        "accessToken", client.getAccessToken().getTokenValue());
  }

  @GetMapping("/refresh")
  Map<String, Object> refresh(
      Authentication user, @RegisteredOAuth2AuthorizedClient("signet") OAuth2AuthorizedClient client) {
    var provider = new RefreshTokenOAuth2AuthorizedClientProvider();
    provider.setClockSkew(Duration.ofDays(1));
    var context = OAuth2AuthorizationContext.withAuthorizedClient(client).principal(user).build();
    return Map.of("accessToken", provider.authorize(context).getAccessToken().getTokenValue());
  }

  @GetMapping("/api/me")
  Map<String, Object> me(@AuthenticationPrincipal Jwt token) {
    return Map.of("sub", token.getSubject());
  }
}
