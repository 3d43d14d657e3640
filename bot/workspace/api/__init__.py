"""The Web API, one module for each family of methods. What each must answer: slack-ruby/slack-api-ref."""
