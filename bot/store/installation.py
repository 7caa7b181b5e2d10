"""What all processes know of their installation: programs' logins, the service's features."""

from sqlalchemy import select

from bot.kernel.logins import BotLogins
from bot.merge_queue.features import ServiceFeature
from bot.store.statements import Part
from bot.store.tables import bot_logins, service_features


class ServiceFeatures(Part):
    """The features that the service offers, as far as a process has found out."""

    def offers(self, feature: ServiceFeature) -> bool:
        this = service_features.c.feature == feature
        return self._run(select(service_features).where(this)).first() is not None

    def note(self, feature: ServiceFeature, *, offered: bool) -> None:
        if offered:
            self._add_new(service_features, {"feature": feature})
        else:
            self._remove(service_features, service_features.c.feature == feature)


class ProgramLogins(Part):
    """The logins of programs, as the settings name them."""

    def all(self) -> BotLogins:
        words = self._run(select(bot_logins.c.word).order_by(bot_logins.c.word))
        found = tuple(words.scalars())
        return BotLogins(found) if found else BotLogins()

    def replace(self, logins: BotLogins) -> None:
        self._remove(bot_logins)
        self._add_new(bot_logins, *({"word": word} for word in logins.words))
