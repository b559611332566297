import os
import secrets

SVC_URL = os.environ.get("SVC_URL", "http://127.0.0.1:8080")
SVC_WEBHOOK_SECRET = os.environ.get("SVC_WEBHOOK_SECRET")
SECRET_KEY = os.environ.get("SECRET_KEY") or secrets.token_hex(32)
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]  # the public host in production
CSRF_TRUSTED_ORIGINS = os.environ.get("SVC_BASE_URL", "").split()  # for forms behind a proxy that ends TLS
ROOT_URLCONF = "views"
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["templates"]}]
