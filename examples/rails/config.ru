# Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in.
require "action_controller/railtie"
require "net/http"

class Notes < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.secret_key_base = ENV.fetch("SECRET_KEY_BASE") { SecureRandom.hex(64) }
  config.hosts.clear # the public host in production
  config.eager_load = false
  config.logger = Logger.new($stderr)
  routes.append do
    root to: "notes#index"
    get "notes", to: "notes#show"
    post "notes", to: "notes#create"
    post "webhooks", to: "webhooks#create"
  end
end

# Asks svc for the signed-in user.
class ApplicationController < ActionController::Base
  SVC = URI(ENV.fetch("SVC_URL", "http://127.0.0.1:8080"))
  class Unavailable < StandardError; end

  protect_from_forgery with: :exception
  helper_method :current_user
  # An outage of svc is a 503: nobody is logged out by it.
  rescue_from Unavailable do
    response.headers["Retry-After"] = "5"
    render plain: "Try again soon.", status: :service_unavailable
  end

  # The signed-in user, or nil. svc is asked once for each request.
  def current_user
    return @current_user if defined?(@current_user)
    @current_user = find_user
  end

  # Sends a page to the login page and back; refuses everything else with 401.
  def require_user
    return if current_user
    return render(plain: "You are logged out. Log in, then send the form again.", status: :unauthorized) unless request.get?
    redirect_to "/auth/login?return_to=#{ERB::Util.url_encode(request.fullpath)}", status: :see_other
  end

  private def find_user
    answer = Net::HTTP.start(SVC.host, SVC.port, use_ssl: SVC.scheme == "https", open_timeout: 5, read_timeout: 5) do |svc|
      svc.get("/auth/api/v1/user", "Cookie" => request.headers["Cookie"].to_s)
    end
    return nil if answer.code == "401"
    raise Unavailable, answer.code unless answer.code == "200"
    JSON.parse(answer.body)
  rescue SystemCallError, IOError, SocketError, Timeout::Error
    raise Unavailable
  end
end

class NotesController < ApplicationController
  prepend_view_path __dir__ # notes/index.html.erb and notes/show.html.erb
  before_action :require_user, except: :index
  ALL = Concurrent::Array.new # an application has models here

  def create
    ALL << [current_user["id"], params[:text].to_s]
    redirect_to "/notes", status: :see_other
  end
end

class WebhooksController < ActionController::API
  def create
    return head(:unauthorized) unless genuine?
    event = JSON.parse(request.raw_post)
    NotesController::ALL.reject! { |owner, _| owner == event["data"]["user_id"] } if event["type"] == "user.deleted"
    head :no_content
  end

  # https://www.standardwebhooks.com: HMAC-SHA256 over id, time and raw body.
  private def genuine?
    id, time, signatures = %w[id timestamp signature].map { |name| request.headers["webhook-#{name}"].to_s }
    return false unless (Time.now.to_i - Integer(time, 10, exception: false).to_i).abs <= 300
    key = Base64.decode64(ENV.fetch("SVC_WEBHOOK_SECRET").delete_prefix("whsec_")).presence or raise "no secret"
    expected = "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{time}.#{request.raw_post}"))}"
    signatures.split.any? { |signature| ActiveSupport::SecurityUtils.secure_compare(signature, expected) }
  end
end

Notes.initialize!
run Notes
