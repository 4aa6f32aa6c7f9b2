//! The state that request handlers share.

use std::sync::Arc;

use axum::extract::FromRef;

use crate::body::Bodies;
use crate::catalogue::Catalogue;
use crate::desk::{Benches, Desk};
use crate::judging::Judging;
use crate::metrics::Metrics;
use crate::modules::Modules;
use crate::notice::Listener;
use crate::searches::Searches;
use crate::settings::{Limits, Settings};
use crate::worth::Worth;

pub(crate) struct App {
    pub(crate) limits: Limits,
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) judging: Judging,
    /// Nothing where the operator names no problems.
    pub(crate) modules: Option<Modules>,
}

impl App {
    /// Starts the benches.
    pub(crate) fn new(settings: &Settings, benches: Benches, listener: Listener) -> Self {
        let limits = settings.limits.clone();
        let metrics = Arc::new(Metrics::default());
        let catalogue = Arc::new(Catalogue::new(
            settings.tasks.clone(),
            settings.task.clone(),
        ));
        let desk = |factory| {
            let (metrics, listener) = (Arc::clone(&metrics), Arc::clone(&listener));
            Desk::start(limits.clone(), factory, metrics, listener)
        };
        let modules = settings.problems.as_ref().zip(benches.modules);
        let modules = modules.map(|(problems, factory)| Modules::new(problems, desk(factory)));
        let desk = Arc::new(desk(benches.tasks));
        let worth = Arc::new(Worth::new(Arc::clone(&desk)));
        let searches = Searches::new(
            settings,
            Arc::clone(&catalogue),
            Arc::clone(&desk),
            Arc::clone(&worth),
            listener,
        );
        Self {
            bodies: Bodies::new(limits.clone()),
            judging: Judging::new(settings, catalogue, desk, worth, searches),
            modules,
            limits,
            metrics,
        }
    }
}

impl FromRef<Arc<App>> for Bodies {
    fn from_ref(app: &Arc<App>) -> Self {
        app.bodies.clone()
    }
}
