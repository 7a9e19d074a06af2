"""The page of the guide. What Signet prints for urls.py stands at the end."""

import views
from django.urls import path

urlpatterns = [path("", views.home), path("refresh", views.refresh)]

# What Signet prints for urls.py:
