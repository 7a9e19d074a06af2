// An Angular application with the providers that `app create --for angular` prints, compiled in the browser.
import "@angular/compiler";
import { Component, inject, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { OidcSecurityService } from "angular-auth-oidc-client";
import { appConfig } from "./app.config";

class App {
  oidc = inject(OidcSecurityService);
  isLoading = signal(true);
  user = signal("");
  token = signal("");
  fault = signal("");

  constructor() {
    this.show(this.oidc.checkAuth());
  }

  show(answer) {
    answer.subscribe({
      next: ({ isAuthenticated, userData, accessToken, errorMessage }) => {
        this.user.set(isAuthenticated ? JSON.stringify(userData) : "");
        this.token.set(accessToken);
        this.fault.set(errorMessage ?? "");
        this.isLoading.set(false);
      },
      error: (error) => this.fault.set(String(error)),
    });
  }

  refresh() {
    this.show(this.oidc.forceRefreshSession());
  }

  signOut() {
    this.oidc.logoff().subscribe();
  }
}

const AppComponent = Component({
  selector: "#root",
  template: `
    @if (fault()) { <p id="fault">{{ fault() }}</p> }
    @if (user()) {
      <output id="user">{{ user() }}</output>
      <output id="token">{{ token() }}</output>
      <button id="refresh" (click)="refresh()">Refresh</button>
      <button id="sign-out" (click)="signOut()">Sign out</button>
    } @else if (!isLoading()) { <button id="sign-in" (click)="oidc.authorize()">Sign in</button> }`,
})(App);

await bootstrapApplication(AppComponent ?? App, appConfig);
