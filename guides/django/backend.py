"""What of Signet's claims this project keeps of a user."""

from django.contrib.auth.models import Group
from mozilla_django_oidc.auth import OIDCAuthenticationBackend


class SignetBackend(OIDCAuthenticationBackend):
    def filter_users_by_claims(self, claims):
        """By `sub`, which stays the same. The library goes by the email, which can become somebody else's."""
        return self.UserModel.objects.filter(username=claims["sub"])

    def get_username(self, claims):
        return claims["sub"]

    def create_user(self, claims):
        return self.update_user(super().create_user(claims), claims)

    def update_user(self, user, claims):
        """At each sign-in: a role that was taken away in Signet is no group here any longer."""
        user.first_name = claims.get("name", "")[:150]
        user.email = claims.get("email", "")
        user.save()
        user.groups.set([Group.objects.get_or_create(name=role)[0] for role in claims.get("roles", [])])
        return user
