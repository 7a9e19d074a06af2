# A Rails application with the files that `app create --for rails` prints, on the port of its parameter. `/` answers who it is.
require "rails"
require "action_controller/railtie"
require "omniauth_openid_connect"
require "omniauth/rails_csrf_protection"
require "rack/handler/puma"

class Shop < Rails::Application
  config.root = Dir.pwd
  config.load_defaults 6.1
  config.eager_load = false
  config.secret_key_base = "x" * 64
  config.consider_all_requests_local = true
  config.logger = Logger.new($stderr)
  config.hosts = ["localhost"]
end

class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception
end

class HomeController < ApplicationController
  def show
    render json: session[:user]
  end

  def buttons
    render inline: <<~PAGE
      <%= button_to "Sign in", "/auth/openid_connect" %>
      <%= button_to "Sign out", "/logout", method: :delete %>
    PAGE
  end
end

Rails.application.routes.append do
  root "home#show"
  get "/buttons", to: "home#buttons"
end
Rails.application.initialize!
Rack::Handler::Puma.run(Rails.application, Host: "localhost", Port: Integer(ARGV.fetch(0)), Silent: true)
